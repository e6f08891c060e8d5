"""The local jail, seen from the host: it orders jails, checks them, hands them calls, and takes them down.

Takes: jobs.  Gives: raw output with evidence.  Never: imports tool code, or runs a call that was not seen confined.
"""
