"""What a call cost, by what the host measured and the operator's prices.

Takes: effects, or the limits that bound them.  Gives: an amount in the operator's own unit.
Never: believes a number that a tool gave.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from ringfence.contract.limits import Limits
from ringfence.contract.tool import Tool
from ringfence.execution.sandbox import Effects

# As much as the edge carries for one call, each way.
MOST_BYTES = 1 << 30
_GIB = Decimal(1 << 30)


@dataclass(frozen=True, kw_only=True)
class Prices:
    """What the operator counts: a call, its time, its bytes."""

    call: Decimal = Decimal(0)
    cpu_second: Decimal = Decimal(0)
    wall_second: Decimal = Decimal(0)
    gib_out: Decimal = Decimal(0)
    gib_in: Decimal = Decimal(0)

    @cached_property
    def set(self) -> bool:
        return self != Prices()


NO_PRICES = Prices()


def cost_of(effects: Effects, *, prices: Prices) -> Decimal:
    """One call, with every attempt that it took."""
    attempts = (*effects.earlier, effects)
    return prices.call + sum((_attempt(each, prices) for each in attempts), Decimal(0))


def most_cost(tool: Tool, *, limits: Limits, prices: Prices) -> Decimal:
    """The most that a call of this tool can cost within its limits; what has no limit costs nothing to reserve."""
    once = _seconds(limits.cpu_seconds) * prices.cpu_second + _seconds(limits.wall_seconds) * prices.wall_second
    if tool.needs_of("network"):
        once += MOST_BYTES / _GIB * (prices.gib_out + prices.gib_in)
    return prices.call + once * (tool.retry.attempts if tool.retry else 1)


def _attempt(effects: Effects, prices: Prices) -> Decimal:
    used = _seconds(effects.cpu_seconds) * prices.cpu_second + _seconds(effects.wall_seconds) * prices.wall_second
    carried = dict(_carried(effects))
    return used + carried["out"] / _GIB * prices.gib_out + carried["in"] / _GIB * prices.gib_in


def _carried(effects: Effects) -> Iterator[tuple[str, int]]:
    for way in ("out", "in"):
        count = (effects.network or {}).get(f"bytes_{way}", 0)
        yield way, count if isinstance(count, int) else MOST_BYTES


def _seconds(seconds: float | None) -> Decimal:
    return Decimal(repr(seconds or 0))
