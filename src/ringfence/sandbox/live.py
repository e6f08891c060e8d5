"""What the kernel shows of a process that is still there: what it has used, and whether it is on its way out.

Takes: a process that is held by a descriptor.  Gives: numbers of the kernel's.  Never: asks the process.
"""

from __future__ import annotations

import time
from typing import Literal, NamedTuple

from ringfence.kernel import proc
from ringfence.sandbox.processes import Held

_SCHEDULED_TIME = 2
_EXITING = 0x4  # PF_EXITING: set first when a process exits, and never taken back
_FLAGS, _THREADS, _EXIT_CODE = 6, 17, 49
# A process chooses its own name, but the kernel spells a line's end in it differently.
_ASLEEP, _ONE_THREAD = b"\nState:\tS", b"\nThreads:\t1\n"


class Live(NamedTuple):
    """What a process had used when it was looked at; `asleep` is a sleep that a signal ends."""

    cpu_seconds: float
    peak_memory_bytes: int
    asleep: bool
    threads: Literal["one", "more"]


def measure_live(process: Held) -> Live | None:
    """CPU time of all its threads and the most memory it ever held; None where it is gone or going."""
    try:
        # The clock that counts what a process and all its threads ran, as clock_getcpuclockid(3) numbers it.
        cpu_seconds = time.clock_gettime((~process.pid << 3) | _SCHEDULED_TIME)
        status = process.status()
    except OSError:
        return None
    _, found, rest = status.partition(b"\nVmHWM:")
    if not found:
        return None
    return Live(
        cpu_seconds=cpu_seconds,
        peak_memory_bytes=int(rest.split(None, 1)[0]) * 1024,
        asleep=_ASLEEP in status,
        threads="one" if _ONE_THREAD in status else "more",
    )


def is_exiting(pid: int) -> bool:
    """Whether the process has begun to exit, so that no line of its program runs any more; cleanly, as far as shown.

    The kernel shows the exit code to root alone; to others it is 0 until the warden tells.
    """
    try:
        # A process chooses its own name, so the fields count from the last bracket.
        fields = proc.read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        return False
    return bool(int(fields[_FLAGS]) & _EXITING) and int(fields[_THREADS]) <= 1 and int(fields[_EXIT_CODE]) == 0
