"""The arithmetic of a measurement: percentiles of what one side took.

Takes: nanoseconds.  Gives: p50 and p99.  Never: averages; one pause of the machine would move an average.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Samples:
    """What one side took, in nanoseconds, in ascending order."""

    ordered: tuple[int, ...]

    @classmethod
    def of(cls, taken: Iterable[int]) -> Samples:
        ordered = tuple(sorted(taken))
        if not ordered:
            raise ValueError("nothing was measured")
        return cls(ordered)

    def percentile(self, percent: float) -> int:
        """The smallest sample that at least this share of all samples does not exceed (nearest rank)."""
        if not 0 < percent <= 100:
            raise ValueError(f"a percentile is above 0 and at most 100, not {percent}")
        return self.ordered[math.ceil(percent / 100 * len(self.ordered)) - 1]

    @property
    def p50(self) -> int:
        return self.percentile(50)

    @property
    def p99(self) -> int:
        return self.percentile(99)

    def __str__(self) -> str:
        return f"p50 {duration(self.p50)}, p99 {duration(self.p99)}"


def duration(nanoseconds: float) -> str:
    """A time that people can read: `9.1 µs`, `41 ms`."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.0f} ns"
