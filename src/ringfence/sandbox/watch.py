"""Where no control group counts a call's memory or threads, the host does, often enough.

Takes: an exchange that has begun, and how many bytes or threads its process may hold.  Gives: nothing; it ends the call
with `memory_limit` or `pids_limit`.  Never: counts pages that the process shares with others.

The kernel's limit on data is not enough by itself: memory that was filled and then made read-only no longer counts.
Its limit on processes counts all of a user's, so without a user namespace it is as loose as the others come and go.
"""

from __future__ import annotations

import asyncio
import mmap

from ringfence.kernel import proc
from ringfence.sandbox.exchange import Exchange

_SECONDS = 0.05


def watch_memory(exchange: Exchange, *, most: int) -> None:
    """Look at the process now and then until its call is over."""
    asyncio.get_running_loop().call_later(_SECONDS, _look, exchange, most)


def private_bytes(pid: int) -> int:
    """The memory that this process alone holds; 0 where it is gone."""
    try:
        resident, shared = map(int, proc.read(f"/proc/{pid}/statm").split()[1:3])
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return (resident - shared) * mmap.PAGESIZE


def watch_threads(exchange: Exchange, *, most: int) -> None:
    """Count the threads of the process now and then until its call is over."""
    asyncio.get_running_loop().call_later(_SECONDS, _count, exchange, most)


def _count(exchange: Exchange, most: int) -> None:
    if exchange.over.done():
        return
    if threads_of(exchange.spare.process.pid) > most:
        exchange.stop("pids_limit", f"the tool had more than {most} threads")
    else:
        watch_threads(exchange, most=most)


def threads_of(pid: int) -> int:
    """How many threads a process has; 0 where it is gone."""
    try:
        status = proc.read(f"/proc/{pid}/status")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(status.partition(b"\nThreads:")[2].split(None, 1)[0])


def _look(exchange: Exchange, most: int) -> None:
    if exchange.over.done():
        return
    if private_bytes(exchange.spare.process.pid) > most:
        exchange.stop("memory_limit", f"the tool used more than {most} bytes of memory")
    else:
        watch_memory(exchange, most=most)
