"""Approvals as a person meets them: what waits, and one word on it.

Takes: a person's word.  Gives: what became of the request.
Never: counts a word that the rules do not admit, whoever passes it on.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ringfence.approvals.inbox import Approval, ApprovalStatus, Vote, Word, require_admissible
from ringfence.audit.events import AuditEvent, event
from ringfence.errors import Misuse, VoteRefused
from ringfence.runtime.approving import REASON_BYTES
from ringfence.runtime.parts import Parts
from ringfence.sanitise import clean_output, visible


class Approvals:
    """The inbox, open to every process that shares the store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def list(self) -> list[Approval]:
        """Every request that still takes votes, oldest first."""
        now = self._parts.now()
        return [each for each in await self._parts.store.pending_approvals() if now < each.expires_at]

    async def vote(
        self,
        approval_id: str,
        *,
        voter: str,
        decision: Word,
        reason: str | None = None,
        digest: str | None = None,
        door: str = "code",
    ) -> Approval:
        """One person's word; `digest` names what they were shown, and defaults to what is asked now."""
        if decision not in ("approve", "reject"):
            raise Misuse(f"a vote is `approve` or `reject`, not `{decision}`")
        approval = await self._parts.store.approval(approval_id)
        if approval is None:
            raise VoteRefused(f"there is no request `{approval_id}`")
        vote = Vote(
            approval_id=approval.id,
            digest=digest or approval.digest,
            voter=voter,
            decision=decision,
            reason=None if reason is None else clean_output(reason, limit=REASON_BYTES).text,
            door=door,
            at=self._parts.now(),
        )
        try:
            require_admissible(vote, approval=approval, electorate=self._parts.rulings.electorate)
            tell = partial(_events, vote, approval=approval)
            return await self._parts.store.cast(vote, tell=lambda status: tell(status=status))
        except VoteRefused as refused:
            await self._parts.store.append([_turned_away(vote, approval=approval, refused=refused)])
            raise


def _turned_away(vote: Vote, *, approval: Approval, refused: VoteRefused) -> AuditEvent:
    """Somebody tried to vote who may not, or tried to vote for something else."""
    detail = {"approval_id": approval.id, "voter": visible(vote.voter), "vote": vote.decision, "why": refused.message}
    return _about(approval, "security_event", vote, {"what": "vote_refused", "detail": detail})


def _events(vote: Vote, *, approval: Approval, status: ApprovalStatus) -> list[AuditEvent]:
    """The vote, and the end of the request if the vote decides it."""
    cast = {
        "approval_id": approval.id,
        "card_digest": vote.digest,
        "voter": vote.voter,
        "vote": vote.decision,
        "reason": vote.reason,
        "door": vote.door,
    }
    events = [_about(approval, "vote_cast", vote, cast)]
    if status is not ApprovalStatus.PENDING:
        resolved = {"approval_id": approval.id, "status": status.value, "by": vote.voter}
        events.append(_about(approval, "approval_resolved", vote, resolved))
    return events


def _about(approval: Approval, kind: str, vote: Vote, body: dict[str, Any]) -> AuditEvent:
    card = approval.card
    return event(
        kind,
        at=vote.at,
        body=body,
        agent=card["agent"],
        tool=card["tool"],
        safety=card["safety"],
        invocation_id=approval.invocation_id,
    )
