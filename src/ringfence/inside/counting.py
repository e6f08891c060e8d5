"""How many processes a call started, made visible: one more is born, and its number says how many came before.

Takes: nothing.  Gives: a child that waits for the call's end.  Never: says a number itself; the host reads it from the
kernel.
"""

from __future__ import annotations

import os

from ringfence.kernel import limits
from ringfence.kernel.syscalls import call

MARKER = b"ringfence-count"
_OWN_NAME = "/proc/self/comm"
_PR_SET_NAME = 15


def bear_marker() -> None:
    """Start a child that does nothing until the call ends; where no more may be started, there is none."""
    with open(_OWN_NAME, "rb") as file:
        own = file.read().rstrip(b"\n")
    # Named before it is born, so that the host never sees it without its name.
    call("prctl", _PR_SET_NAME, MARKER, 0, 0, 0)
    try:
        _bear()
    finally:
        call("prctl", _PR_SET_NAME, own, 0, 0, 0)


def _bear() -> None:
    try:
        waiting, _kept = os.pipe()
        pid = os.fork()
    except OSError:
        return
    if pid == 0:
        try:
            limits.close_all_except((waiting,))
            # The other end is the call's, and is closed when that ends, however it does.
            os.read(waiting, 1)
        finally:
            os._exit(0)
