"""Proof that one exact call may run once.

Takes: a verdict that allows, or an approval whose card is still exactly the call.  Gives: a `Warrant`.
Never: is made for anything that somebody should still look at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ringfence.approvals.inbox import Approval, ApprovalStatus
from ringfence.approvals.request import Card
from ringfence.errors import CallRefused
from ringfence.policy.decision import Decision, Verdict


@dataclass(frozen=True, kw_only=True)
class Warrant:
    """Names the call and what it rests on; the store consumes it in the transaction that starts the call."""

    invocation_id: str
    basis: Literal["allowed", "votes"]
    approval_id: str | None
    digest: str


def warrant_for_allowed(verdict: Verdict, *, invocation_id: str, digest: str) -> Warrant:
    """A warrant for a call that needs nobody's vote."""
    if verdict.decision is not Decision.ALLOW:
        raise CallRefused("the verdict does not allow this call")
    return Warrant(invocation_id=invocation_id, basis="allowed", approval_id=None, digest=digest)


def warrant_from_votes(approval: Approval, *, card: Card) -> Warrant:
    """A warrant for a call that was approved, if what would run now is exactly what was shown."""
    if approval.status is not ApprovalStatus.APPROVED:
        raise CallRefused(f"the request for votes is {approval.status}", code="approval_void")
    if card.digest != approval.digest:
        raise CallRefused("what would run now is not what was approved", code="approval_void")
    return Warrant(invocation_id=card.invocation_id, basis="votes", approval_id=approval.id, digest=card.digest)
