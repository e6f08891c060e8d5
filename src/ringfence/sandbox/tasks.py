"""How many processes and threads a user has, as the kernel counts them against that user's limit.

Takes: a uid.  Gives: a number that was true a moment ago.  Never: trusts the owner of a folder in /proc, which is
root's for a process that hides.
"""

from __future__ import annotations

import os
import time

from ringfence.kernel import proc

_SECONDS_KEPT = 0.25


class Tasks:
    """Counts one user's; counting anew for every spare would cost more than the spare."""

    def __init__(self, uid: int) -> None:
        self._uid = uid
        self._counted = 0
        self._until = 0.0

    def count(self) -> int:
        """All tasks with this real uid."""
        if time.monotonic() >= self._until:
            self._counted = sum(_tasks(name, uid=self._uid) for name in os.listdir("/proc") if name.isdigit())
            self._until = time.monotonic() + _SECONDS_KEPT
        return self._counted


def _tasks(pid: str, *, uid: int) -> int:
    try:
        text = proc.read(f"/proc/{pid}/status")
    except OSError:
        return 0
    _, _, after = text.partition(b"\nUid:")
    if not after or int(after.split(None, 1)[0]) != uid:
        return 0
    return int(text.partition(b"\nThreads:")[2].split(None, 1)[0])
