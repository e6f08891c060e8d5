"""Proof that one exact call may run once.

Takes: a verdict that allows by itself or by standing grants, or an approval whose card is still exactly the call.
Gives: a `Warrant`, with the grants of which starting the call uses one each.
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
    basis: Literal["allowed", "votes", "standing"]
    approval_id: str | None
    digest: str
    grants: tuple[str, ...] = ()


def warrant_for_allowed(verdict: Verdict, *, invocation_id: str, digest: str) -> Warrant:
    """A warrant for a call that needs nobody's vote."""
    if verdict.decision is not Decision.ALLOW:
        raise CallRefused("the verdict does not allow this call")
    grants = verdict.answered_by
    basis: Literal["allowed", "standing"] = "standing" if grants else "allowed"
    return Warrant(invocation_id=invocation_id, basis=basis, approval_id=None, digest=digest, grants=grants)


def warrant_from_votes(approval: Approval, *, card: Card, grants: tuple[str, ...] = ()) -> Warrant:
    """A warrant for a call that was approved, if what would run now is exactly what was shown."""
    if approval.status is not ApprovalStatus.APPROVED:
        raise CallRefused(f"the request for votes is {approval.status}", code="approval_void")
    if card.digest != approval.digest:
        raise CallRefused("what would run now is not what was approved", code="approval_void")
    return Warrant(
        invocation_id=card.invocation_id, basis="votes", approval_id=approval.id, digest=card.digest, grants=grants
    )
