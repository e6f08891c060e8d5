"""Which single reasons a standing grant answers, and that it never answers a verdict."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ringfence.approvals.standing import Bounds, Signed, StandingGrant, answered, counted
from ringfence.errors import Misuse
from ringfence.policy.answering import ANSWERABLE, answers
from ringfence.policy.conditions import compile_conditions
from ringfence.policy.decision import Decision, Reason, strictest

pytestmark = pytest.mark.req("APR-8")

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RULE = "sha256:rule"


def reason(kind: str, decision: Decision = Decision.APPROVE, digest: str | None = None) -> Reason:
    return Reason(kind=kind, decision=decision, because="so", digest=digest)


def bounds(**changes: Any) -> Bounds:
    given: dict[str, Any] = {
        "agent": "ana", "tool": "pay", "fingerprint": "f", "source_digest": "s", "when": {}, "answers": (),
        "max_uses": 3, "given_at": NOW, "expires_at": NOW + timedelta(hours=8), "because": "so",
    }  # fmt: skip
    return Bounds(**{**given, **changes})


def grant(id_: str = "g", *names: str, signatures: int = 1) -> Signed:
    given = StandingGrant(id=id_, bounds=bounds(answers=names), safety="financial", signed_by=("bob",))
    return Signed(grant=given, signatures=signatures)


@pytest.mark.parametrize("kind", ["class_floor", "egress_floor", "route"])
def test_a_floor_or_a_route_is_answered_without_being_named(kind: str) -> None:
    assert answers(reason(kind), named=frozenset(), signatures=1)


@pytest.mark.parametrize("kind", ["provenance", "trust", "reveal"])
def test_what_is_known_only_at_the_call_is_answered_where_its_kind_is_named(kind: str) -> None:
    assert not answers(reason(kind), named=frozenset(), signatures=2)
    assert answers(reason(kind), named=frozenset({kind}), signatures=1)


@pytest.mark.parametrize("kind", ["rule", "profile", "pack"])
def test_what_somebody_wrote_is_answered_where_its_exact_wording_is_named(kind: str) -> None:
    assert not answers(reason(kind, digest=RULE), named=frozenset(), signatures=2)
    assert not answers(reason(kind, digest=RULE), named=frozenset({kind}), signatures=2)
    assert not answers(reason(kind), named=frozenset({kind}), signatures=2)
    assert not answers(reason(kind, digest="sha256:edited"), named=frozenset({RULE}), signatures=2)
    assert answers(reason(kind, digest=RULE), named=frozenset({RULE}), signatures=1)


@pytest.mark.parametrize("kind", ["error", "rule_error", "quota", "something_new"])
def test_a_reason_of_a_kind_that_is_not_listed_is_never_answered(kind: str) -> None:
    assert kind not in ANSWERABLE
    assert not answers(reason(kind), named=frozenset({kind}), signatures=2)


@pytest.mark.parametrize("kind", sorted(ANSWERABLE))
def test_a_denial_is_never_answered_whoever_signed(kind: str) -> None:
    assert not answers(reason(kind, Decision.DENY), named=frozenset({kind}), signatures=9)
    denied = strictest([reason("class_floor"), reason(kind, Decision.DENY)])
    assert answered(denied, grants=[grant("g", kind, signatures=9)]) == denied


def test_what_needs_two_votes_needs_two_signatures() -> None:
    twice = reason("class_floor", Decision.APPROVE_TWICE)
    assert not answers(twice, named=frozenset(), signatures=1)
    assert answers(twice, named=frozenset(), signatures=2)


def test_nobodys_signature_answers_nothing() -> None:
    assert not answers(reason("class_floor"), named=frozenset(), signatures=0)


def test_only_signatures_of_present_operators_who_did_not_propose_count() -> None:
    given = StandingGrant(id="g", bounds=bounds(), safety="read", signed_by=("bob", "eve", "gone"))
    (signed,) = counted([given], operators=frozenset({"bob", "eve"}), proposers=("eve",))
    assert signed.signatures == 1


def test_every_reason_that_asks_must_be_answered_before_nobody_is_asked() -> None:
    verdict = strictest([reason("class_floor"), reason("rule", digest=RULE)])
    assert answered(verdict, grants=[grant()]) == verdict
    both = answered(verdict, grants=[grant("g", RULE)])
    assert (both.decision, both.answered_by) == (Decision.ALLOW, ("g",))


def test_two_grants_can_answer_one_reason_each() -> None:
    verdict = strictest([reason("class_floor"), reason("rule", digest=RULE)])
    other = Signed(
        grant=StandingGrant(id="h", bounds=bounds(answers=(RULE,)), safety="read", signed_by=()), signatures=1
    )
    assert answered(verdict, grants=[grant("g"), other]).answered_by == ("h",)
    assert answered(verdict, grants=[grant("g"), grant("h")]) == verdict


def test_a_grant_that_answers_the_stricter_reason_leaves_the_milder_one_to_a_vote() -> None:
    verdict = strictest([reason("class_floor", Decision.APPROVE_TWICE), reason("rule", digest=RULE)])
    left = answered(verdict, grants=[grant(signatures=2)])
    assert (left.decision, left.answered_by) == (Decision.APPROVE, ("g",))


def test_no_use_is_spent_where_it_would_spare_nobody_a_vote() -> None:
    verdict = strictest([reason("class_floor"), reason("provenance")])
    assert answered(verdict, grants=[grant()]).answered_by == ()


def test_an_argument_that_is_left_out_holds_for_a_rule_and_fails_for_a_grant() -> None:
    when: dict[str, Any] = {"args.amount": {"lte": 100}, "args.to.bank": {"eq": "x"}}
    assert compile_conditions(when)({})
    assert not compile_conditions(when, absent="fails")({})
    assert compile_conditions(when, absent="fails")({"amount": 100, "to": {"bank": "x"}})
    assert not compile_conditions(when, absent="fails")({"amount": 100, "to": {}})


@pytest.mark.parametrize(
    "changes",
    [
        {"max_uses": 0},
        {"max_uses": 10_001},
        {"expires_at": NOW},
        {"expires_at": NOW + timedelta(days=91)},
        {"when": {"amount": {"lt": 1}}},
        {"when": {"args.amount": {"near": 1}}},
    ],
)
def test_a_grant_without_sense_or_bounds_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(Misuse):
        bounds(**changes).require_bounded()
