"""How a call gets its warrant: at once, from standing grants, from votes already given, or not yet.

Takes: a case with its verdict.  Gives: a `Warrant`, or `Waiting` with the request on record.
Never: asks twice for the same call in one session, and never again for one that a person rejected, in whatever words.
"""

from __future__ import annotations

from datetime import UTC

from ringfence.approvals.inbox import Approval, ApprovalStatus
from ringfence.approvals.warrant import Warrant, warrant_for_allowed, warrant_from_votes
from ringfence.errors import CallRefused
from ringfence.policy.decision import Decision
from ringfence.runtime.case import Case, new_id
from ringfence.runtime.invocation import Recorded, Status
from ringfence.runtime.outcome import Waiting
from ringfence.runtime.parts import Parts
from ringfence.runtime.recording import AlreadyMoved
from ringfence.runtime.standing import answer, answer_as_shown
from ringfence.sanitise import clean_output

REASON_BYTES = 2_000


async def warrant_or_wait(parts: Parts, case: Case) -> Warrant | Waiting:
    """The proof that this call may run, or word that it waits."""
    if case.resumed is not None:
        return await _from_votes(parts, case, case.resumed)
    if case.known_verdict.decision is Decision.ALLOW:
        if parts.rejections.concern(*_whose(case)):
            await _require_unrejected(parts, case)
        return _allowed(case)
    earlier = await _same_call(parts, case)
    if earlier is None or earlier.approval is None:
        return await _granted_or_ask(parts, case)
    if earlier.status is Status.REJECTED:
        # Told again under the id of the call that was rejected, so that it stays the newest of its kind.
        case.adopt(earlier)
        said = rejection(earlier.approval)
        raise AlreadyMoved(said.message, code=said.code)
    if earlier.status is Status.PENDING and parts.now() < earlier.approval.expires_at:
        return waiting(earlier.approval)
    if earlier.status is Status.QUEUED:
        case.adopt(earlier)
        return await _from_votes(parts, case, earlier)
    return await _granted_or_ask(parts, case)


async def _granted_or_ask(parts: Parts, case: Case) -> Warrant | Waiting:
    """Reasons that a standing grant answers ask nobody; what is left does."""
    await _require_unrejected(parts, case)
    await answer(parts, case)
    return _allowed(case) if case.known_verdict.decision is Decision.ALLOW else await _ask(parts, case)


def _whose(case: Case) -> tuple[str, str]:
    return case.request.identity.session, case.known_tool.name


async def _require_unrejected(parts: Parts, case: Case) -> None:
    """Nobody is asked again about what they rejected, and nobody is asked until they give in."""
    heard = await parts.rejections.heard(*_whose(case), record=parts.store)
    if heard.is_enough:
        said = f"this session makes no more calls of `{case.known_tool.name}`: too many were rejected in a row"
        raise CallRefused(said, code="approval_rejected", remedy="leave this tool alone; tell the user why")
    alike = heard.alike(case.known_call.arguments, schema=case.known_tool.tool.input_schema)
    if alike is not None:
        raise rejection(alike, what="a call that reads the same")


def _allowed(case: Case) -> Warrant:
    return warrant_for_allowed(case.known_verdict, invocation_id=case.id, digest=case.known_call.digest)


async def _same_call(parts: Parts, case: Case) -> Recorded | None:
    earlier = await parts.store.latest_like(
        session=case.request.identity.session, tool=case.known_tool.name, arguments_digest=case.known_call.digest
    )
    if earlier is None or earlier.status is Status.REJECTED or case.request.idempotency_key is None:
        return earlier  # another key makes another call, but not out of one that a person rejected
    return earlier if earlier.invocation.idempotency_key == case.idempotency_key else None


async def _from_votes(parts: Parts, case: Case, recorded: Recorded) -> Warrant:
    approval = recorded.approval
    if approval is None:
        raise CallRefused("the call was never put to a vote", code="approval_void")
    if parts.now() >= approval.expires_at:
        raise CallRefused("the approval has expired", code="approval_expired")
    await answer_as_shown(parts, case, approval)
    decision = case.known_verdict.decision
    if decision is not Decision.ALLOW:
        given = [vote.voter for vote in approval.votes if vote.decision == "approve"]
        parts.rulings.electorate.require_still(given, decision=decision, proposers=case.proposers)
    card = case.card(approval_id=approval.id, expires_at=approval.expires_at.isoformat())
    return warrant_from_votes(approval, card=card, grants=case.known_verdict.answered_by)


async def _ask(parts: Parts, case: Case) -> Waiting:
    """Put the call to a vote, durably; this process is free again."""
    decision = case.known_verdict.decision
    electorate = parts.rulings.electorate
    electorate.require(decision, proposers=case.proposers)
    expires_at = (case.at + parts.rulings.approval_lifetime).astimezone(UTC)  # spelled as it will be read back
    card = case.card(approval_id=new_id("apr"), expires_at=expires_at.isoformat())
    approval = Approval(
        id=card.approval_id,
        invocation_id=case.id,
        status=ApprovalStatus.PENDING,
        digest=card.digest,
        card=card.document(),
        votes_needed=decision.votes,
        group=electorate.group_for(decision),
        proposers=case.proposers,
        expires_at=expires_at,
    )
    events = [case.proposed(), case.decided(), case.asked(approval)]
    await parts.store.ask(case.invocation(), approval=approval, events=events)
    parts.rejections.asked(*_whose(case))
    return waiting(approval)


def waiting(approval: Approval) -> Waiting:
    return Waiting(invocation_id=approval.invocation_id, approval_id=approval.id, votes_needed=approval.votes_needed)


def rejection(approval: Approval, *, what: str = "this call") -> CallRefused:
    """What a model is told when a person said no."""
    said = next((vote.reason for vote in approval.votes if vote.decision == "reject"), None)
    reason = clean_output(said or "no reason is on record", limit=REASON_BYTES).text
    return CallRefused(f"a person rejected {what}: {reason}", code="approval_rejected")
