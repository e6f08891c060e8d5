"""One line of a table: what was measured beside what, the goal, and whether it was met.

Takes: a ratio and a goal.  Gives: a verdict.  Never: calls something met that was not measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

TIMES = "\N{MULTIPLICATION SIGN}"
PERCENT = "%"
COUNT = "rows"


@dataclass(frozen=True)
class Goal:
    """A bound on a ratio, or on what `unit` says instead."""

    bound: Literal["at most", "at least"]
    ratio: float
    unit: str = TIMES

    def met_by(self, measured: float) -> bool:
        return measured <= self.ratio if self.bound == "at most" else measured >= self.ratio

    def __str__(self) -> str:
        return f"{'≤' if self.bound == 'at most' else '≥'} {self.ratio:g} {self.unit}"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One comparison. `measured` is this side divided by the baseline; without it, `detail` says why there is none.

    `served` is what the host saw of the process that served this side last, where there is one.
    """

    id: str
    what: str
    baseline: str
    goal: Goal | None
    measured: float | None
    detail: str
    unit: str = TIMES
    served: str | None = None

    @property
    def verdict(self) -> Literal["met", "missed", "not measured", "for information"]:
        if self.measured is None:
            return "not measured"
        if self.goal is None:
            return "for information"
        return "met" if self.goal.met_by(self.measured) else "missed"

    def document(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "what": self.what,
            "baseline": self.baseline,
            "goal": str(self.goal) if self.goal else None,
            "measured": self.measured,
            "verdict": self.verdict,
            "detail": self.detail,
            "served": self.served,
        }


def at_most(ratio: float, *, unit: str = TIMES) -> Goal:
    return Goal("at most", ratio, unit)


def at_least(ratio: float, *, unit: str = TIMES) -> Goal:
    return Goal("at least", ratio, unit)
