"""Who waits for whom, where two processes want the same processor.

Takes: nothing.  Gives: whether this process, and whatever it bears, waits.  Never: gives anybody more than they had.
"""

from __future__ import annotations

import os


def interrupt_nobody() -> bool:
    """From now on run when it is this process's turn, and never because it was woken; so do all that it bears.

    Its share of the processors stays what it was, unless whoever started it runs in real time: nothing that is born
    here does. What runs only when nobody else wants to goes on so. False where the kernel does not let it.
    """
    if os.sched_getscheduler(0) not in (os.SCHED_OTHER, os.SCHED_FIFO, os.SCHED_RR):
        return False
    try:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    except PermissionError:  # by a filter around this process: it is slower for it, and no less confined
        return False
    return True
