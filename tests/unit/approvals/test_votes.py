"""Who may vote, what a vote counts for, and when there are enough."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ringfence.approvals.inbox import Approval, ApprovalStatus, Vote, require_admissible, tally
from ringfence.approvals.people import Electorate, Person
from ringfence.approvals.request import Card
from ringfence.approvals.warrant import warrant_for_allowed, warrant_from_votes
from ringfence.errors import CallRefused, VoteRefused
from ringfence.policy.decision import Decision, Reason, strictest
from tests.asserting import assert_accepts

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def person(name: str, *roles: str, groups: tuple[str, ...] = ()) -> Person:
    return Person(name=name, roles=frozenset(roles), groups=frozenset(groups))


PEOPLE = [
    person("alice", "approver", groups=("treasury",)),
    person("dan", "approver"),
    person("bob", "operator"),
    person("carol", "approver"),
]
ELECTORATE = Electorate(people={each.name: each for each in PEOPLE}, groups={})
CARD = Card(approval_id="apr_1", invocation_id="inv_1", expires_at=NOW.isoformat(), content={"arguments": "{}"})
PENDING = Approval(
    id="apr_1",
    invocation_id="inv_1",
    status=ApprovalStatus.PENDING,
    digest=CARD.digest,
    card=CARD.document(),
    votes_needed=2,
    group=None,
    proposers=("carol",),
    expires_at=NOW + timedelta(hours=1),
)


def vote(voter: str = "alice", **changed: Any) -> Vote:
    plain = Vote(
        approval_id="apr_1", digest=CARD.digest, voter=voter, decision="approve", reason=None, door="code", at=NOW
    )
    return replace(plain, **changed)


@pytest.mark.req("APR-4")
def test_an_approver_who_did_not_propose_may_vote() -> None:
    assert_accepts(require_admissible, vote(), approval=PENDING, electorate=ELECTORATE)


REFUSED: list[tuple[Vote, Approval, str]] = [
    (vote("carol"), PENDING, "proposed"),
    (vote("bob"), PENDING, "not an approver"),
    (vote("nobody"), PENDING, "not an approver"),
    (vote("dan"), replace(PENDING, group="treasury"), "not an approver"),
    (vote(), replace(PENDING, votes=(vote(),)), "already"),
    (vote(), replace(PENDING, status=ApprovalStatus.REJECTED), "takes no more votes"),
    (vote(), replace(PENDING, status=ApprovalStatus.APPROVED), "takes no more votes"),
    (vote(at=NOW + timedelta(hours=1)), PENDING, "expired"),
    (vote(digest="sha256:other"), PENDING, "something else"),
    (vote(decision="reject"), PENDING, "needs a reason"),
    (vote(decision="reject", reason=" "), PENDING, "needs a reason"),
]


@pytest.mark.req("APR-2", "APR-4", "APR-5")
@pytest.mark.parametrize(("cast", "approval", "why"), REFUSED)
def test_a_vote_that_the_rules_do_not_admit_is_refused_with_the_rule(cast: Vote, approval: Approval, why: str) -> None:
    with pytest.raises(VoteRefused, match=why):
        require_admissible(cast, approval=approval, electorate=ELECTORATE)


@pytest.mark.req("APR-4", "APR-5")
def test_enough_approvals_approve_and_one_rejection_rejects() -> None:
    assert tally(PENDING, vote()) is ApprovalStatus.PENDING
    once = replace(PENDING, votes=(vote(),))
    assert tally(once, vote("dan")) is ApprovalStatus.APPROVED
    assert tally(once, vote("dan", decision="reject", reason="no")) is ApprovalStatus.REJECTED
    assert tally(replace(PENDING, votes_needed=1), vote()) is ApprovalStatus.APPROVED


@pytest.mark.req("APR-4")
@pytest.mark.parametrize(
    ("decision", "proposers", "found"),
    [
        (Decision.APPROVE, ("carol",), True),
        (Decision.APPROVE, (), True),
        (Decision.APPROVE, ("alice", "dan", "carol"), False),
        (Decision.APPROVE_TWICE, ("bob",), True),
        (Decision.APPROVE_TWICE, ("carol", "dan"), False),
        (Decision.APPROVE_TWICE, (), False),
    ],
)
def test_a_call_is_asked_only_where_the_votes_can_be_found(
    decision: Decision, proposers: tuple[str, ...], found: bool
) -> None:
    if found:
        ELECTORATE.require(decision, proposers=proposers)
    else:
        with pytest.raises(CallRefused) as refusal:
            ELECTORATE.require(decision, proposers=proposers)
        assert refusal.value.code == "no_approvers"


@pytest.mark.req("APR-2")
def test_a_vote_counts_while_its_voter_may_vote() -> None:
    ELECTORATE.require_still(["alice", "dan"], decision=Decision.APPROVE_TWICE, proposers=("bob",))
    for given, proposers in (
        (["alice"], ("bob",)),
        (["alice", "alice"], ()),
        (["alice", "bob"], ()),
        (["alice", "dan"], ("dan",)),
    ):
        with pytest.raises(CallRefused) as refusal:
            ELECTORATE.require_still(given, decision=Decision.APPROVE_TWICE, proposers=proposers)
        assert refusal.value.code == "approval_void"


@pytest.mark.req("APR-3")
def test_a_warrant_is_made_for_what_is_allowed_or_was_approved_exactly_so_and_for_nothing_else() -> None:
    approved = replace(PENDING, status=ApprovalStatus.APPROVED)
    assert warrant_from_votes(approved, card=CARD).approval_id == "apr_1"
    for other in (
        replace(CARD, content={"arguments": "{ }"}),
        replace(CARD, expires_at="later"),
        replace(CARD, approval_id="apr_2"),
    ):
        with pytest.raises(CallRefused, match="not what was approved"):
            warrant_from_votes(approved, card=other)
    for status in set(ApprovalStatus) - {ApprovalStatus.APPROVED}:
        with pytest.raises(CallRefused):
            warrant_from_votes(replace(PENDING, status=status), card=CARD)
    for decision in Decision:
        verdict = strictest([Reason(kind="t", decision=decision, because="so")])
        if decision is Decision.ALLOW:
            assert warrant_for_allowed(verdict, invocation_id="inv_1", digest="d").basis == "allowed"
        else:
            with pytest.raises(CallRefused):
                warrant_for_allowed(verdict, invocation_id="inv_1", digest="d")
