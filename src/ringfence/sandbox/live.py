"""What the kernel shows of a process that is still there: what it used, and whether it is on its way out.

Takes: a pid that is held by a descriptor.  Gives: numbers of the kernel's.  Never: asks the process.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

_MOST_BYTES = 4_096
_EXITING = 0x4  # PF_EXITING: set first when a process exits, and never taken back
_FLAGS, _USER_TICKS, _SYSTEM_TICKS, _THREADS, _EXIT_CODE = 6, 11, 12, 17, 49
_TICK = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Live:
    """What a process had used when it was looked at."""

    cpu_seconds: float
    peak_memory_bytes: int


def measure_live(pid: int) -> Live | None:
    """CPU time of all its threads and the most memory it ever held; None where it is gone or going."""
    try:
        fields = _stat(pid)
        if int(fields[_FLAGS]) & _EXITING:
            return None
        run_time = int(_read(f"/proc/{pid}/schedstat").split()[0]) / 1_000_000_000
        status = _read(f"/proc/{pid}/status")
    except (OSError, IndexError):
        return None
    # The first is exact and knows the main thread alone; the second is coarse and knows them all.
    ticks = (int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS])) * _TICK
    _, found, rest = status.partition(b"\nVmHWM:")
    if not found:
        return None
    return Live(cpu_seconds=max(run_time, ticks), peak_memory_bytes=int(rest.split(None, 1)[0]) * 1024)


def is_exiting(pid: int) -> bool:
    """Whether the process has begun to exit, so that no line of its program runs any more; cleanly, as far as shown.

    The kernel shows the exit code to root alone; to others it is 0 until the warden tells.
    """
    try:
        fields = _stat(pid)
    except OSError:
        return False
    flags, threads, code = (int(fields[at]) for at in (_FLAGS, _THREADS, _EXIT_CODE))
    return bool(flags & _EXITING) and threads <= 1 and code == 0


def _stat(pid: int) -> list[bytes]:
    # A process chooses its own name, so the fields count from the last bracket.
    return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)
