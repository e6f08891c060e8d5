"""A call's whole tree is counted: what its children use is the call's own use, whether or not the kernel adds it up.

Takes: an exchange that has begun, and what its processes may use together.  Gives: what was seen; it ends the call.
Never: counts a process that is not the call's.

A pid namespace numbers what is born in it, threads too, from 1 up. The highest number that the host sees is how many
there were; just before its reply a call bears one process more, for the host to see. Without such a namespace, only
what was there when the host looked is counted.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence

from ringfence.inside.counting import MARKER
from ringfence.kernel import proc
from ringfence.sandbox.exchange import Exchange, Tree
from ringfence.sandbox.watch import private_bytes

_SECONDS = 0.05
_TICKS = os.sysconf("SC_CLK_TCK")
_USER, _SYSTEM, _USER_OF_CHILDREN, _SYSTEM_OF_CHILDREN = 11, 12, 13, 14
_MOST = 4_096


def watch_tree(exchange: Exchange, *, memory: int | None, cpu_seconds: float) -> None:
    """Look at the tree now and then until its call is over; `memory` only where no control group counts it."""
    exchange.look_with(Lookout(exchange.spare.process.pid))
    _again(exchange, memory, cpu_seconds)


class Lookout:
    """Looks at one call's tree; it knows whom it has seen before."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seen: set[int] = set()

    def __call__(self) -> Tree:
        tree = list(members(self._pid))
        markers = [pid for pid in tree if _name(pid) == MARKER]
        self._seen.update(pid for pid in tree if pid not in markers)
        highest = max(map(number_of, tree), default=0) - len(markers[:1])
        # The first is the call itself.
        return Tree(cpu_seconds=sum(map(cpu_of, tree)), started=max(highest, len(self._seen), 1) - 1)


def _name(pid: int) -> bytes:
    try:
        return proc.read(f"/proc/{pid}/comm").rstrip(b"\n")
    except OSError:
        return b""


def number_of(pid: int) -> int:
    """A process's number in the pid namespace that it lives in; 0 where it is gone, or lives in the host's own."""
    try:
        status = proc.read(f"/proc/{pid}/status")
    except OSError:
        return 0
    numbers = status.partition(b"\nNSpid:")[2].partition(b"\n")[0].split()
    return int(numbers[-1]) if len(numbers) > 1 else 0


def _again(exchange: Exchange, memory: int | None, cpu_seconds: float) -> None:
    asyncio.get_running_loop().call_later(_SECONDS, _look, exchange, memory, cpu_seconds)


def members(pid: int) -> Iterator[int]:
    """A process and all that descend from it, as far as they are still there."""
    waiting = [pid]
    for _ in range(_MOST):
        if not waiting:
            return
        one = waiting.pop()
        yield one
        waiting += _children(one)


def _children(pid: int) -> list[int]:
    """What a process bore; nothing where it is gone."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        born = [proc.read(f"/proc/{pid}/task/{task}/children").split() for task in tasks]
    except OSError:
        return []
    return [int(child) for children in born for child in children]


def cpu_of(pid: int) -> float:
    """What a process used, and its children that are gone; 0 where it is gone itself."""
    try:
        fields = proc.read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return sum(int(fields[at]) for at in (_USER, _SYSTEM, _USER_OF_CHILDREN, _SYSTEM_OF_CHILDREN)) / _TICKS


def memory_of(tree: Sequence[int]) -> int:
    """What a process and its descendants hold; a child that runs no other program yet shares most of what it shows."""
    first, *rest = tree
    held = private_bytes(first)
    own = _program(first)
    return held + sum(
        private_bytes(pid) if _program(pid) not in (own, None) else max(0, private_bytes(pid) - held) for pid in rest
    )


def _program(pid: int) -> str | None:
    """The file that a process runs; nothing where the kernel does not show it, as of one that is hidden."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


def _look(exchange: Exchange, memory: int | None, cpu_seconds: float) -> None:
    if exchange.over.done():
        return
    seen = exchange.look() or Tree()
    if memory is not None and memory_of(list(members(exchange.spare.process.pid))) > memory:
        exchange.stop("memory_limit", f"the tool and its programs used more than {memory} bytes of memory")
    elif seen.cpu_seconds > cpu_seconds:
        exchange.stop("cpu_limit", f"the tool and its programs used more than {cpu_seconds} seconds of CPU time")
    else:
        _again(exchange, memory, cpu_seconds)
