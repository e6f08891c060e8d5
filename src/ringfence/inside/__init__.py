"""The code that shares a jail with the tool: it builds the jail, imports the tool there, and serves one call.

Takes: orders from the host over sockets.  Gives: frames that the host treats as hostile.  Never: decides what is
allowed, and loads nothing of ringfence but kernel, contract, errors and itself.
"""
