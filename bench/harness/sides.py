"""One side of a comparison: a thing that can be run so many times, or for so long.

Takes: a function.  Gives: how long each call took, or how many calls fitted.
Never: counts the first calls after a wait, when the processor's caches are cold; unless the other side, which needs the
wait, counts its own as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter_ns, sleep
from typing import Any, NamedTuple, Protocol

LEAD_IN = 3
PAUSE = 0.02  # long enough for a pool of waiting processes to be full again
SETTLED = 0.1  # long enough for the next jail to be begun, and for one that had to make room to be gone


class Pace(NamedTuple):
    """How many calls were made, and in how many nanoseconds."""

    calls: int
    taken: int


class Side(Protocol):
    """Something to be measured beside something else."""

    @property
    def name(self) -> str: ...

    def times(self, calls: int) -> Sequence[int]:
        """How long each of so many calls took, in nanoseconds."""
        ...

    def pace(self, seconds: float) -> Pace:
        """How many calls fit into about this many seconds."""
        ...


@dataclass(frozen=True, kw_only=True)
class Local:
    """A function of this process; with a pause, each call comes as long after the one before as on the other side."""

    name: str
    function: Callable[[], Any]
    pause: float = 0

    def times(self, calls: int) -> Sequence[int]:
        function, clock = self.function, perf_counter_ns
        for _ in range(LEAD_IN):
            function()
        taken: list[int] = []
        for _ in range(calls):
            if self.pause:
                sleep(self.pause)
            before = clock()
            function()
            taken.append(clock() - before)
        return taken

    def pace(self, seconds: float) -> Pace:
        function, clock = self.function, perf_counter_ns
        for _ in range(LEAD_IN):
            function()
        began, calls = clock(), 0
        end = began + int(seconds * 1e9)
        while clock() < end:
            function()
            calls += 1
        return Pace(calls, clock() - began)
