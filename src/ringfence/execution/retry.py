"""When a call that gave no reply is tried again by itself: only where a second time cannot do harm.

Takes: a contract, and what the host measured of an attempt.  Gives: whether and after how long there is another.
Never: repeats a call that may have changed something, and never tries longer than the contract says.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ringfence.contract.tool import Tool
from ringfence.execution.sandbox import Job, RawOutput
from ringfence.execution.traces import left_nothing

# Faults that may pass by themselves; every other one would come again.
PASSING = frozenset({"tool_error", "wall_limit"})

_LONGEST_PAUSE = 60.0


def repeatable(tool: Tool) -> bool:
    """Whether running this tool twice is as good as once: it changes nothing, or the far side knows the key."""
    return not tool.consequential or tool.far_side_dedupes


def may_repeat(job: Job, raw: RawOutput) -> bool:
    """Whether this attempt ended in a way that may pass, and another one cannot do harm twice."""
    if raw.fault is None or raw.fault.code not in PASSING:
        return False
    # Also a tool that only reads may keep rows of its own, and would find them changed.
    if raw.effects.storage is not None and raw.effects.storage["writes"] and not job.tool.tool.far_side_dedupes:
        return False
    return repeatable(job.tool.tool) or left_nothing(job.grant, raw.effects)


def pauses(tool: Tool) -> Iterator[float]:
    """The waits between the attempts that the contract allows; doubling, and never the same for two callers."""
    if tool.retry is None:
        return
    for attempt in range(tool.retry.attempts - 1):
        yield min(tool.retry.backoff * 2**attempt, _LONGEST_PAUSE) * random.uniform(0.5, 1.0)  # noqa: S311
