"""How many calls in how long: the size of a bucket and how fast it fills.

Takes: a text like `20/hour`.  Gives: a `Rate`.  Never: is unlimited.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
_RATE = re.compile(r"([1-9][0-9]{0,8})/(second|minute|hour|day)")


@dataclass(frozen=True, kw_only=True)
class Rate:
    """So many calls at once, and as many again in that time."""

    count: int
    seconds: int

    @property
    def per_second(self) -> float:
        return self.count / self.seconds


# Rates by pattern of tool names. What no pattern matches has no rate here; another map may still have one.
Rates: TypeAlias = Mapping[str, Rate]


def read_rate(text: str) -> Rate | None:
    """The rate that a text like `20/hour` means; nothing for any other text."""
    found = _RATE.fullmatch(text)
    return Rate(count=int(found[1]), seconds=SECONDS[found[2]]) if found else None
