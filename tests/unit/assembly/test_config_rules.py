"""Rules in the config file: what cannot be enforced is refused at the rule's own line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly.config import load_config
from ringfence.errors import ConfigInvalid
from ringfence.policy.decision import Decision
from ringfence.policy.rules import Example, Subject

pytestmark = pytest.mark.req("POL-2")

RULE: dict[str, Any] = {"match": {"tool": "pay"}, "decision": "approve", "because": "money moves"}
AGENTS = {"ana": {"allowed_tools": ["pay"]}}


def load(*rules: dict[str, Any]) -> Any:
    return load_config({"version": 1, "agents": AGENTS, "policy": {"rules": list(rules)}})


def problems(*rules: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigInvalid) as raised:
        load(*rules)
    return list(raised.value.problems)


def test_a_rule_is_compiled_with_its_examples() -> None:
    example = {"tool": "pay", "agent": "ana", "args": {"amount": 200}}
    (rule,) = load(
        {**RULE, "when": {"args.amount": {"gt": 100}}, "holds": [example], "not_holds": [{"tool": "pay"}]}
    ).rules
    assert (rule.decision, rule.because, rule.mode) == (Decision.APPROVE, "money moves", "enforce")
    assert rule.examples == (
        Example(tool="pay", agent="ana", binding="", args={"amount": 200}, expected="holds"),
        Example(tool="pay", agent="", binding="", args={}, expected="not_holds"),
    )
    assert rule.reason({"amount": 101}) is not None
    assert rule.reason({"amount": 100}) is None


def test_one_glob_or_a_list_of_them_may_be_matched() -> None:
    (rule,) = load({**RULE, "match": {"tool": ["pay", "re*"], "class": "financial"}}).rules
    asked = {"agent": "ana", "binding": "", "egress": "write"}
    assert rule.concerns(Subject(tool="refund", safety="financial", **asked))
    assert not rule.concerns(Subject(tool="refund", safety="write", **asked))
    assert not rule.concerns(Subject(tool="pays", safety="financial", **asked))


@pytest.mark.parametrize("word", ["allow", "approve", "approve_twice", "deny"])
def test_each_decision_has_its_word(word: str) -> None:
    assert load({**RULE, "decision": word}).rules[0].decision.word == word


@pytest.mark.parametrize("missing", ["match", "decision", "because"])
def test_a_rule_says_what_it_matches_what_it_decides_and_why(missing: str) -> None:
    rule = {key: value for key, value in RULE.items() if key != missing}
    assert problems(rule)[0].startswith(f"`policy.rules[0]`: the key `{missing}` is missing")


@pytest.mark.parametrize("because", ["", "  ", "\n", None, 7, "a\x1b[8mb", "a\u202eb"])
def test_a_reason_that_says_nothing_or_cannot_be_shown_is_refused(because: object) -> None:
    assert problems({**RULE, "because": because})[0].startswith("`policy.rules[0].because`: ")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"match": {}}, "match"),
    ({"match": {"tool": []}}, "match.tool"),
    ({"match": {"tol": "pay"}}, "match.tol"),
    ({"match": {"tool": "[a-z]*"}}, "match.tool"),
    ({"match": {"class": "financal"}}, "match.class"),
    ({"match": {"egress": ["write", "wr"]}}, "match.egress[1]"),
    ({"decision": "aprove"}, "decision"),
    ({"decision": True}, "decision"),
    ({"mode": "log"}, "mode"),
    ({"when": {"amount": {"gt": 1}}}, "when"),
    ({"when": {"args.amount": {"above": 1}}}, "when.args.amount"),
    ({"when": {"args.amount": {"gt": "many"}}}, "when.args.amount"),
    ({"when": {"args.amount": {"gt": True}}}, "when.args.amount"),
    ({"when": {"args.to": {"matches": "("}}}, "when.args.to"),
    ({"when": {"args.to": {"matches": "(a)\\1"}}}, "when.args.to"),
    ({"when": {"args.to": {"in": "a"}}}, "when.args.to"),
    ({"when": {"args.to": {}}}, "when.args.to"),
    ({"when": {"args.to": None}}, "when.args.to"),
    ({"when": {"args.to": {"absent": "yes"}}}, "when.args.to"),
    ({"when": []}, "when"),
    ({"holds": {}}, "holds"),
    ({"holds": [{"args": {}}]}, "holds[0]"),
    ({"holds": [{"tool": "pay", "agent": "anna"}]}, "holds[0].agent"),
    ({"not_holds": [{"tool": "pay", "arg": {}}]}, "not_holds[0].arg"),
    ({"id": "Not Plain"}, "id"),
    ({"unless": {}}, "unless"),
]


@pytest.mark.parametrize(("keys", "where"), REFUSED)
def test_what_cannot_be_enforced_is_refused_where_it_stands(keys: dict[str, Any], where: str) -> None:
    found = problems(RULE, {**RULE, **keys})
    assert [line.partition(": ")[0] for line in found] == [f"`policy.rules[1].{where}`"]


@pytest.mark.parametrize("because", ["", " \n"])
def test_an_empty_reason_is_called_empty(because: str) -> None:
    assert problems({**RULE, "because": because})[0].startswith("`policy.rules[0].because`: is empty; say why")


def test_a_reason_over_several_lines_becomes_one() -> None:
    assert load({**RULE, "because": " money\n  moves\n"}).rules[0].because == "money moves"


def test_an_id_is_used_once() -> None:
    assert load({**RULE, "id": "pay"}, RULE).rule_ids == ("pay", None)
    assert problems({**RULE, "id": "pay"}, RULE, {**RULE, "id": "pay"}) == [
        "`policy.rules[2].id`: `pay` is also the id of rule 0; use an id once"
    ]


def test_two_bad_conditions_of_one_rule_are_both_reported_at_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(
        "version: 1\npolicy:\n  rules:\n    - match: {tool: pay}\n      when:\n        args.a: {gt: x}\n"
        "        args.b: {lenght: 1}\n      decision: deny\n      because: y\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigInvalid) as raised:
        load_config(file)
    assert [line.removeprefix(f"{file}:").split(" ")[0] for line in raised.value.problems] == ["6:9:", "7:9:"]
