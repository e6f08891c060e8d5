"""Hostile tools, one module for each group of attacks; each tries one thing and tells what the kernel said.

Takes: where the canaries are.  Gives: an `Attempt`.  Never: imports anything but the standard library, ctypes and
`ringfence.tool`; never does harm where it succeeds, because it is run without a jail too.
"""
