"""What a call takes from every cap that concerns it, before it starts.

Takes: the terms of a call, its arguments, and the most that it can cost.  Gives: what it takes.
Never: counts an amount that is missing, negative, endless or in another unit; such a call is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from ringfence.agents.spending import Basis, SpendCap, Way, argument, spelled
from ringfence.errors import CallRefused
from ringfence.policy.decision import Decision, Reason
from ringfence.policy.proposal import Proposal
from ringfence.policy.terms import Terms

# Kept as whole billionths, so that both databases add them up exactly.
PARTS = 10**9
MOST = Decimal(9_000_000_000)
_DECIMAL = re.compile(r"[0-9]{1,16}(\.[0-9]{1,16})?")
_ABSENT = object()


class Uncountable(ValueError):
    """An amount that cannot be held to a cap."""


@dataclass(frozen=True, kw_only=True)
class Spend:
    """What one call takes from one cap, in billionths; `binding` is empty for the agent's own."""

    agent: str
    binding: str
    cap: SpendCap
    taken: int

    @property
    def basis(self) -> Basis:
        return self.cap.basis

    @property
    def most(self) -> int:
        return parts(self.cap.most)


def spends_for(terms: Terms, *, arguments: Mapping[str, Any], cost: Decimal) -> tuple[Spend, ...]:
    """What a call takes from every cap that concerns it, the agent's own first; `cost` is the most that it can be."""
    try:
        return tuple(
            Spend(agent=terms.acting.agent.name, binding=binding, cap=cap, taken=parts(_asked(cap, arguments, cost)))
            for binding, cap in terms.caps
        )
    except Uncountable as problem:
        raise CallRefused(str(problem)) from problem


def beyond(proposal: Proposal) -> Iterator[Reason]:
    """A denial for every cap that this call could never fit under, whatever was spent before."""
    for _, cap in proposal.terms.caps:
        try:
            asked = _asked(cap, proposal.call.arguments, Decimal(0))
        except Uncountable as problem:
            yield Reason(kind="spend_cap", decision=Decision.DENY, because=str(problem))
            continue
        if asked > cap.most:
            because = f"`{cap.tools}` may spend {spelled(cap.most)} per {cap.per}, and this call alone is more"
            yield Reason(kind="spend_cap", decision=Decision.DENY, because=because, code="spend_cap_reached")


def parts(amount: Decimal) -> int:
    """An amount in billionths, rounded up."""
    return int((amount * PARTS).to_integral_value(rounding=ROUND_CEILING))


def whole(billionths: int) -> Decimal:
    return Decimal(billionths) / PARTS


def _asked(cap: SpendCap, arguments: Mapping[str, Any], cost: Decimal) -> Decimal:
    if cap.amount is None:
        return cost
    for way, word in cap.unit:
        if _at(arguments, way) != word:
            raise Uncountable(f"`{argument(way)}` is not `{word}`, which the cap on `{cap.tools}` is counted in")
    return _amount(_at(arguments, cap.amount), way=cap.amount)


def _amount(value: object, *, way: Way) -> Decimal:
    said = _spelled_out(value)
    if not _DECIMAL.fullmatch(said):
        raise Uncountable(f"`{argument(way)}` is no amount that a cap can count")
    amount = Decimal(said)
    if amount > MOST:
        raise Uncountable(f"`{argument(way)}` is more than any cap can count")
    return amount


def _spelled_out(value: object) -> str:
    """A whole number, a fraction or a text of digits; of anything else the type, which is no number."""
    if type(value) is float:
        return format(Decimal(repr(value)), "f")
    return str(value) if type(value) in (int, str) else type(value).__name__


def _at(arguments: Mapping[str, Any], way: Way) -> object:
    found: Any = arguments
    for key in way:
        found = found.get(key, _ABSENT) if isinstance(found, Mapping) else _ABSENT  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return found  # pyright: ignore[reportUnknownVariableType]
