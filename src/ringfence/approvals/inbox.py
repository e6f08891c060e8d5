"""Votes: who gave which word on which request, and what that makes of it.

Takes: an approval and one more vote.  Gives: the tally.
Never: counts a vote on a request that is resolved, expired, or shown with another digest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeAlias

from ringfence.approvals.people import Electorate
from ringfence.errors import VoteRefused
from ringfence.sanitise import visible

Word: TypeAlias = Literal["approve", "reject"]


class ApprovalStatus(StrEnum):
    """Where a request for votes stands."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    VOID = "void"


@dataclass(frozen=True, kw_only=True)
class Vote:
    """One person's word on one request, bound to the digest of what they were shown."""

    approval_id: str
    digest: str
    voter: str
    decision: Word
    reason: str | None
    door: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Approval:
    """A request for votes, as kept."""

    id: str
    invocation_id: str
    status: ApprovalStatus
    digest: str
    card: Mapping[str, Any]
    votes_needed: int
    group: str | None
    proposers: tuple[str, ...]
    expires_at: datetime
    votes: tuple[Vote, ...] = ()

    def document(self) -> dict[str, Any]:
        return {
            "approval_id": self.id,
            "invocation_id": self.invocation_id,
            "status": self.status.value,
            "digest": self.digest,
            "votes_needed": self.votes_needed,
            "votes": [
                {"voter": v.voter, "decision": v.decision, "reason": v.reason, "door": v.door} for v in self.votes
            ],
            "card": dict(self.card),
        }


class Inbox(Protocol):
    """Where requests for votes wait, for any process to find."""

    async def pending_approvals(self) -> tuple[Approval, ...]:
        """Every request that still takes votes."""
        ...

    async def approval(self, approval_id: str) -> Approval | None:
        """One request with its votes."""
        ...

    async def cast(self, vote: Vote, *, tell: Callable[[ApprovalStatus], Any]) -> Approval:
        """Keep one vote, and move the call if the vote decides; `tell` makes the events to commit with it."""
        ...

    async def expire_due(self, now: datetime, *, tell: Callable[[Approval], Any]) -> tuple[Approval, ...]:
        """End every request whose time is over, also one that was approved and never used; `tell` makes the events."""
        ...


def require_admissible(vote: Vote, *, approval: Approval, electorate: Electorate) -> None:
    """Refuse a vote that the rules do not admit, with the rule that does not."""
    problem = _problem(vote, approval=approval, electorate=electorate)
    if problem:
        raise VoteRefused(problem)


def _problem(vote: Vote, *, approval: Approval, electorate: Electorate) -> str | None:
    if approval.status is not ApprovalStatus.PENDING:
        return f"the request is {approval.status} and takes no more votes"
    if vote.at >= approval.expires_at:
        return "the request has expired, and silence is refusal"
    if vote.digest != approval.digest:
        return "the vote is for something else than what is asked"
    if vote.voter in approval.proposers:
        return f"`{visible(vote.voter)}` proposed this call and cannot vote on it"
    if vote.voter not in electorate.voters(group=approval.group, proposers=approval.proposers):
        return f"`{visible(vote.voter)}` is not an approver for this call"
    if any(earlier.voter == vote.voter for earlier in approval.votes):
        return f"`{visible(vote.voter)}` has voted already"
    if vote.decision == "reject" and not (vote.reason or "").strip():
        return "a rejection needs a reason"
    return None


def tally(approval: Approval, vote: Vote) -> ApprovalStatus:
    """What the request becomes with this vote: one rejection rejects, enough approvals approve."""
    if vote.decision == "reject":
        return ApprovalStatus.REJECTED
    given = 1 + sum(earlier.decision == "approve" for earlier in approval.votes)
    return ApprovalStatus.APPROVED if given >= approval.votes_needed else ApprovalStatus.PENDING
