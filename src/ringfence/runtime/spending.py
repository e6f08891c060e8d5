"""What a call takes from caps and what it cost, as the journal and people are told.

Takes: a case, and what the host measured.  Gives: what to reserve, what to settle, and how every cap stands.
Never: settles a call by what its tool says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypedDict

from ringfence.agents.acting import Acting
from ringfence.agents.spending import SpendCap, spelled
from ringfence.execution.cost import cost_of, most_cost
from ringfence.execution.sandbox import Effects, RawOutput
from ringfence.policy.decision import Decision, Reason
from ringfence.policy.spending import Spend, spends_for, whole
from ringfence.policy.spending import parts as billionths
from ringfence.runtime.case import Case
from ringfence.runtime.invocation import Spent
from ringfence.runtime.parts import Parts


class Bill(TypedDict):
    """What an ending says of money."""

    cost_estimate: str | None
    spent: Spent | None


@dataclass(frozen=True, kw_only=True)
class CapStanding:
    """One cap as it stands now; `binding` is empty for the agent's own."""

    binding: str
    cap: SpendCap
    taken: int

    @property
    def left(self) -> int:
        return max(0, billionths(self.cap.most) - self.taken)

    def document(self) -> dict[str, Any]:
        said = {"binding": self.binding or None, **self.cap.document()}
        return {**said, "taken": spelled(whole(self.taken)), "left": spelled(whole(self.left))}


def spends_of(parts: Parts, case: Case) -> tuple[Spend, ...]:
    """What this call takes, at most, from every cap that concerns it."""
    terms = case.known_terms
    if not terms.caps:
        return ()
    cost = most_cost(terms.tool.tool, limits=terms.limits, prices=parts.rulings.prices)
    return spends_for(terms, arguments=case.known_call.arguments, cost=cost)


def priced(parts: Parts, effects: Effects) -> dict[str, Any]:
    """What was measured, with what it cost where the operator has prices."""
    prices = parts.rulings.prices
    if not prices.set:
        return effects.document()
    return {**effects.document(), "cost_estimate": spelled(cost_of(effects, prices=prices))}


def bill_for(parts: Parts, case: Case, raw: RawOutput | None) -> Bill:
    """What a call that ran came to; what nobody measured stays reserved whole."""
    prices = parts.rulings.prices
    if raw is None or not (prices.set or case.spends):
        return Bill(cost_estimate=None, spent=None)
    cost = cost_of(raw.effects, prices=prices)
    return Bill(cost_estimate=spelled(cost) if prices.set else None, spent=billionths(cost) if case.spends else None)


def given_back(case: Case) -> Bill:
    """What a call came to that was started on record and never ran."""
    return Bill(cost_estimate=None, spent="nothing" if case.spends else None)


async def cap_standings(parts: Parts, acting: Acting) -> tuple[CapStanding, ...]:
    """Every cap of an agent where it stands, and what is left of it."""
    caps = acting.caps
    if not caps:
        return ()
    taken = await parts.store.spent(caps, agent=acting.agent.name)
    return tuple(CapStanding(binding=on, cap=cap, taken=sum_) for (on, cap), sum_ in zip(caps, taken, strict=True))


async def hold_to_caps(parts: Parts, case: Case) -> None:
    """A denial for every cap that leaves too little now, with nothing taken."""
    verdict = case.known_verdict
    if verdict.decision is Decision.DENY:
        return
    spends = {(spend.binding, spend.cap): spend for spend in spends_of(parts, case)}
    found = [
        Reason(kind="spend_cap", decision=Decision.DENY, because=_lacking(standing, spend), code="spend_cap_reached")
        for standing in await cap_standings(parts, case.known_acting)
        if (spend := spends.get((standing.binding, standing.cap))) is not None and spend.taken > standing.left
    ]
    case.verdict = replace(verdict, reasons=(*verdict.reasons, *found))


def _lacking(standing: CapStanding, spend: Spend) -> str:
    cap = standing.cap
    left, asked = spelled(whole(standing.left)), spelled(whole(spend.taken))
    return f"`{cap.tools}` may spend {spelled(cap.most)} per {cap.per}, {left} are left, and this call may take {asked}"
