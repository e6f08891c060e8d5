"""Where no control group counts a call's memory, the host does, often enough.

Takes: an exchange that has begun, and how many bytes its process may hold.  Gives: nothing; it ends the call with
`memory_limit`.  Never: counts pages that the process shares with others.

The kernel's limit on data is not enough by itself: memory that was filled and then made read-only no longer counts.
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


def _look(exchange: Exchange, most: int) -> None:
    if exchange.over.done():
        return
    if private_bytes(exchange.spare.process.pid) > most:
        exchange.stop("memory_limit", f"the tool used more than {most} bytes of memory")
    else:
        watch_memory(exchange, most=most)
