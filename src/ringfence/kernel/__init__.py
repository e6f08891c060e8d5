"""The kernel room: one mechanism a file, direct system calls, no policy.

Takes: plain numbers, paths and tables.  Gives: what the kernel did, or OSError.  Never: decides who may do what.
"""
