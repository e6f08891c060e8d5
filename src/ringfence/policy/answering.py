"""Which reasons an operator can answer in advance, and which only a person at the time can.

Takes: one reason, what a standing grant names, and how many operators signed it.  Gives: whether it is answered.
Never: answers a denial, a reason of an unknown kind, or a rule whose exact wording the grant does not name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ringfence.policy.decision import Decision, Reason

How: TypeAlias = Literal["always", "by digest", "by kind"]


@dataclass(frozen=True, kw_only=True)
class Answerable:
    """How a kind of reason can be answered in advance, and why so."""

    how: How
    because: str


def _kind(how: How, because: str) -> Answerable:
    return Answerable(how=how, because=because)


# A kind that is not listed is never answered in advance.
ANSWERABLE: dict[str, Answerable] = {
    "class_floor": _kind("always", "the grant names the tool, and with it the class"),
    "egress_floor": _kind("always", "the grant names the tool, and with it where it sends"),
    "route": _kind("always", "the grant names the tool, and with it the route that its author chose"),
    "rule": _kind("by digest", "somebody wrote the rule for these very calls; the grant says that it knows it"),
    "profile": _kind("by digest", "the agent's profile asks for a look; the grant says that it knows it"),
    "pack": _kind("by digest", "a pack of rules asks for a look; the grant says that it knows it"),
    "provenance": _kind("by kind", "where a value came from is known only at the time of the call"),
    "trust": _kind("by kind", "nobody has accepted the contract yet; the grant says that it knows it"),
    "reveal": _kind("by kind", "a secret's value enters the jail; the grant says that it knows it"),
}  # fmt: skip

NAMED_KINDS = tuple(kind for kind, answerable in ANSWERABLE.items() if answerable.how == "by kind")


def answers(reason: Reason, *, named: frozenset[str], signatures: int) -> bool:
    """Whether a grant with these names and so many signatures answers this reason."""
    answerable = ANSWERABLE.get(reason.kind)
    if answerable is None or reason.decision is Decision.DENY or signatures < max(1, reason.decision.votes):
        return False
    if answerable.how == "by digest":
        return reason.digest in named  # an edited rule is another rule, and has another digest
    return answerable.how == "always" or reason.kind in named
