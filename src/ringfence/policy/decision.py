"""Four answers in order, and the strictest one wins.

Takes: reasons.  Gives: a `Verdict`.  Never: lets one finding cancel another.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Decision(IntEnum):
    """Ordered: a later one is stricter."""

    ALLOW = 0
    APPROVE = 1
    APPROVE_TWICE = 2
    DENY = 3

    @property
    def votes(self) -> int:
        """How many people must agree; a denial is nobody's to lift."""
        return min(int(self), 2)

    @property
    def word(self) -> str:
        return self.name.lower()


def decision_for(votes: int) -> Decision:
    """The decision that asks for this many votes."""
    return Decision(votes) if votes <= Decision.APPROVE_TWICE else Decision.DENY


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One finding with a decision. `digest` names the exact rule that gave it, if a rule did."""

    kind: str
    decision: Decision
    because: str
    code: str = "policy_denied"
    digest: str | None = None

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "decision": self.decision.word, "because": self.because, "digest": self.digest}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Every reason; `shadow` are those of rules that only watch."""

    reasons: tuple[Reason, ...]
    shadow: tuple[Reason, ...] = ()

    @property
    def decision(self) -> Decision:
        # Absence refuses: a verdict without a single reason is a denial.
        return max((reason.decision for reason in self.reasons), default=Decision.DENY)

    @property
    def decisive(self) -> Reason | None:
        """The first of the strictest reasons."""
        return next((reason for reason in self.reasons if reason.decision is self.decision), None)


def strictest(reasons: Iterable[Reason], *, shadow: Iterable[Reason] = ()) -> Verdict:
    return Verdict(reasons=tuple(reasons), shadow=tuple(shadow))
