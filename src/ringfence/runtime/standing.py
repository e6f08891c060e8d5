"""What standing grants make of one call, and what a freeze makes of it.

Takes: a case with its verdict.  Gives: the case, with single reasons answered.
Never: consumes a use; the store does, where the call is started.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ringfence.approvals.inbox import Approval
from ringfence.approvals.standing import StandingGrant, answered, counted
from ringfence.audit.events import AuditEvent
from ringfence.errors import CallRefused
from ringfence.policy.decision import Decision
from ringfence.runtime.case import Case
from ringfence.runtime.parts import Parts


async def answer(parts: Parts, case: Case) -> None:
    """Answer what the grants on record answer now."""
    await _answer(parts, case, admits=lambda _: True)


async def answer_as_shown(parts: Parts, case: Case, approval: Approval) -> None:
    """Answer what the card said was answered and nothing more: the votes are for that card."""
    shown = {reason.get("answered_by") for reason in approval.card.get("reasons", ())}
    await _answer(parts, case, admits=lambda grant: grant.id in shown)


async def _answer(parts: Parts, case: Case, *, admits: Callable[[StandingGrant], bool]) -> None:
    if case.known_verdict.decision not in (Decision.APPROVE, Decision.APPROVE_TWICE):
        return
    proposal, now = case.proposal(), parts.now()
    found = await parts.store.open_grants(agent=case.agent.name, tool=case.known_tool.name)
    case.grants = tuple(grant for grant in found if admits(grant) and grant.covers(proposal, now=now))
    operators = parts.rulings.electorate.operators
    signed = counted(case.grants, operators=operators, proposers=case.proposers)
    case.verdict = answered(case.known_verdict, grants=signed)


def used_grants(case: Case, *, at: datetime) -> list[AuditEvent]:
    """One event for every grant on which the call rests."""
    if not case.grants:
        return []
    verdict = case.known_verdict
    return [
        case.event(
            "grant_used",
            {
                "grant_id": grant.id,
                "digest": grant.digest,
                "signed_by": list(grant.signed_by),
                "answers": [reason.kind for reason in verdict.reasons if reason.answered_by == grant.id],
            },
            at=at,
        )
        for grant in case.grants
        if grant.id in verdict.answered_by
    ]


async def require_thawed(parts: Parts, *, agent: str, tool: str) -> None:
    """Refuse, without a start to refuse it, a call that a freeze in force holds."""
    for freeze in await parts.store.freezes():
        if freeze.scope.holds(agent=agent, tool=tool):
            raise CallRefused(f"{freeze.scope} is frozen: {freeze.because}", code="frozen")
