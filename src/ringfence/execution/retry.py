"""When a call that gave no reply is tried again by itself: only where a second time cannot do harm.

Takes: a contract and the fault of an attempt.  Gives: how long to wait before the next, if there is one.
Never: repeats a call that may have changed something, and never tries longer than the contract says.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ringfence.contract.tool import Tool

# Faults that may pass by themselves; every other one would come again.
PASSING = frozenset({"tool_error", "wall_limit"})

_LONGEST_PAUSE = 60.0


def repeatable(tool: Tool) -> bool:
    """Whether running this tool twice is as good as once: it changes nothing, or the far side knows the key."""
    return not tool.consequential or tool.far_side_dedupes


def pauses(tool: Tool) -> Iterator[float]:
    """The waits between the attempts that the contract allows; doubling, and never the same for two callers."""
    if tool.retry is None or not repeatable(tool):
        return
    for attempt in range(tool.retry.attempts - 1):
        yield min(tool.retry.backoff * 2**attempt, _LONGEST_PAUSE) * random.uniform(0.5, 1.0)  # noqa: S311
