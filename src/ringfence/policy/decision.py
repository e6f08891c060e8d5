"""Four answers in order, and the strictest one wins.

Takes: reasons.  Gives: a `Verdict`.  Never: lets one finding cancel another.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ringfence.contract.remembering import remembered


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
        return _WORDS[self]


_WORDS = tuple(decision.name.lower() for decision in Decision)


def decision_for(votes: int) -> Decision:
    """The decision that asks for this many votes."""
    return Decision(votes) if votes <= Decision.APPROVE_TWICE else Decision.DENY


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One finding with a decision. `digest` names the exact rule that gave it, if a rule did; `answered_by` the
    standing grant that answers it, if one does.
    """

    kind: str
    decision: Decision
    because: str
    code: str = "policy_denied"
    digest: str | None = None
    answered_by: str | None = None

    @property
    def asks(self) -> Decision:
        """What the reason still asks for; a denial is never answered."""
        return self.decision if self.answered_by is None or self.decision is Decision.DENY else Decision.ALLOW

    def document(self) -> dict[str, Any]:
        said = {"kind": self.kind, "decision": self.decision.word, "because": self.because, "digest": self.digest}
        return said if self.answered_by is None else {**said, "answered_by": self.answered_by}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Every reason; `shadow` are those of rules that only watch."""

    reasons: tuple[Reason, ...]
    shadow: tuple[Reason, ...] = ()

    @remembered
    def decision(self) -> Decision:
        # Absence refuses: a verdict without a single reason is a denial.
        return max([reason.asks for reason in self.reasons], default=Decision.DENY)

    @remembered
    def answered_by(self) -> tuple[str, ...]:
        """The standing grants that answer a reason of this verdict."""
        return tuple(sorted({reason.answered_by for reason in self.reasons if reason.answered_by}))

    @remembered
    def told(self) -> list[dict[str, Any]]:
        """Every reason, as the trail is told."""
        return [reason.document() for reason in self.reasons]

    @remembered
    def told_in_shadow(self) -> list[dict[str, Any]]:
        return [reason.document() for reason in self.shadow]

    @property
    def decisive(self) -> Reason | None:
        """The first of the strictest reasons."""
        return next((reason for reason in self.reasons if reason.asks is self.decision), None)


def strictest(reasons: Iterable[Reason], *, shadow: Iterable[Reason] = ()) -> Verdict:
    return Verdict(reasons=tuple(reasons), shadow=tuple(shadow))
