"""Four answers in order; the strictest wins, and no answer at all is a denial."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from ringfence.policy.conditions import ConditionInvalid, compile_conditions
from ringfence.policy.decision import Decision, Reason, Verdict, decision_for, strictest
from ringfence.policy.rules import RuleBook, Subject, compile_rule


def reason(decision: Decision) -> Reason:
    return Reason(kind="test", decision=decision, because=decision.word)


@pytest.mark.req("POL-1")
def test_the_strictest_wins_in_whatever_order() -> None:
    for order in permutations(Decision):
        for count in range(1, 5):
            verdict = strictest(map(reason, order[:count]))
            assert verdict.decision is max(order[:count])
            assert verdict.decisive == reason(max(order[:count]))


@pytest.mark.req("POL-1")
def test_a_verdict_without_a_reason_is_a_denial() -> None:
    assert Verdict(reasons=()).decision is Decision.DENY
    assert Verdict(reasons=()).decisive is None


@pytest.mark.req("POL-1", "CON-4")
def test_votes_and_decisions() -> None:
    assert [decision_for(votes) for votes in range(4)] == list(Decision)
    assert decision_for(7) is Decision.DENY
    assert [decision.votes for decision in Decision] == [0, 1, 2, 2]


HOLDS: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({"args.a": {"eq": 1}}, {"a": 1}, True),
    ({"args.a": {"eq": 1}}, {"a": 1.0}, True),
    ({"args.a": {"eq": 1}}, {"a": True}, False),
    ({"args.a": {"eq": True}}, {"a": 1}, False),
    ({"args.a": {"eq": None}}, {"a": None}, True),
    ({"args.a": {"ne": "x"}}, {"a": "y"}, True),
    ({"args.a": {"in": ["x", 1]}}, {"a": "x"}, True),
    ({"args.a": {"in": ["x", 1]}}, {"a": True}, False),
    ({"args.a": {"gt": 0.1}}, {"a": 0.1}, False),
    ({"args.a": {"gte": 0.1}}, {"a": 0.1}, True),
    ({"args.a": {"gt": 2**53 - 2}}, {"a": 2**53 - 1}, True),
    ({"args.a.b": {"eq": 1}}, {"a": {"b": 1}}, True),
    ({"args.a.0": {"eq": 1}}, {"a": [1]}, True),
    ({"args.a.1": {"eq": 1}}, {"a": [1]}, True),
    ({"args.a.b": {"eq": 1}}, {"a": 7}, True),
    ({"args.a": {"glob": "x*"}}, {"a": "xy"}, True),
    ({"args.a": {"matches": "b"}}, {"a": "abc"}, True),
    ({"args.a": {"len_gt": 2}}, {"a": [1, 2, 3]}, True),
    ({"args.a": {"len_gt": 2}}, {"a": "ab"}, False),
    ({"args.a": {"absent": True}}, {}, True),
    ({"args.a": {"absent": False}}, {}, False),
    ({"args.a": {"absent": True}}, {"a": None}, False),
    ({"args.a": {"eq": 1}, "args.b": {"eq": 2}}, {"a": 1, "b": 3}, False),
    ({"args.a": {"eq": 1}, "args.b": {"eq": 2}}, {"a": 1}, True),
    ({}, {}, True),
]


@pytest.mark.req("POL-2")
@pytest.mark.parametrize(("when", "arguments", "holds"), HOLDS)
def test_the_operators(when: dict[str, Any], arguments: dict[str, Any], holds: bool) -> None:
    assert compile_conditions(when)(arguments) is holds


@pytest.mark.req("POL-2")
@pytest.mark.parametrize(
    "when",
    [
        {"a": {"eq": 1}},
        {"args": {"eq": 1}},
        {"args.": {"eq": 1}},
        {"args.a": {}},
        {"args.a": 1},
        {"args.a": {"like": 1}},
        {"args.a": {"in": 1}},
        {"args.a": {"matches": "["}},
        {"args.a": {"matches": "(?=x)"}},
        {"args.a": {"len_gt": "1"}},
        {"args.a": {"len_gt": True}},
        {"args.a": {"gt": "1"}},
        {"args.a": {"gt": True}},
        {"args.a": {"glob": 1}},
        {"args.a": {"absent": 1}},
        {"args.a": {"absent": True, "eq": 1}},
    ],
)
def test_a_condition_that_cannot_be_compiled_is_refused(when: dict[str, Any]) -> None:
    with pytest.raises(ConditionInvalid):
        compile_conditions(when)


def _rule(when: dict[str, Any], decision: Decision = Decision.ALLOW, because: str = "so") -> Any:
    return compile_rule(
        match={"tool": ("*",)}, when=when, decision=decision, because=because, mode="enforce", examples=()
    )


@pytest.mark.req("POL-2")
@pytest.mark.parametrize(
    ("when", "value"),
    [
        ({"gt": 1}, "x"),
        ({"gt": 1}, True),
        ({"gt": 1}, [1]),
        ({"glob": "x"}, 1),
        ({"matches": "x"}, {}),
        ({"len_gt": 1}, 1),
    ],
)
def test_a_value_that_a_condition_cannot_judge_is_a_denial(when: dict[str, Any], value: Any) -> None:
    found = _rule({"args.a": when}).reason({"a": value})
    assert (found.kind, found.decision) == ("rule_error", Decision.DENY)


@pytest.mark.req("POL-2", "APR-2")
def test_a_rule_is_named_by_its_exact_wording() -> None:
    assert _rule({}).digest == _rule({}).digest
    others = [_rule({"args.a": {"eq": 1}}), _rule({}, Decision.DENY), _rule({}, because="other")]
    assert len({_rule({}).digest, *(other.digest for other in others)}) == 4


@pytest.mark.req("POL-2")
def test_rules_are_found_for_their_subject_alone() -> None:
    rule = compile_rule(
        match={"tool": ("pay*",), "agent": ("ana",), "class": ("financial",)},
        when={},
        decision=Decision.DENY,
        because="so",
        mode="enforce",
        examples=(),
    )
    book = RuleBook([rule])
    subject = {"tool": "pay_all", "agent": "ana", "binding": "", "safety": "financial", "egress": "none"}
    for _ in range(2):
        assert len(book.findings(Subject(**subject), {})[0]) == 1
        for change in ({"tool": "play"}, {"agent": "ben"}, {"safety": "read"}):
            assert book.findings(Subject(**{**subject, **change}), {}) == ([], [])
