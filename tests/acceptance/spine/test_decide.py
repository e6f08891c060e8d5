"""The decision: every reason is listed, the strictest wins, and an error while deciding is a denial."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ringfence.errors import ConfigInvalid, Misuse
from ringfence.policy import terms
from ringfence.policy.grant import Grant
from ringfence.registry.registry import RegisteredTool
from tests.acceptance.spine.household import (
    accounts,
    assert_completed,
    assert_refused,
    assert_waiting,
    bound,
    config,
    open_house,
    rule,
    rules,
)


@pytest.mark.req("POL-1")
async def test_every_reason_is_listed_and_the_strictest_decides(tmp_path: Path) -> None:
    policy = rules(rule("approve", tool="note", because="first"), rule("deny", tool="note", because="second"))
    async with open_house(config(tmp_path, policy=policy)) as house:
        outcome = assert_refused(await house.call("note", {"text": "x"}), "policy_denied")
        (decision,) = await house.events("policy_decision")
        assert house.ran == []
    found = [(reason.kind, reason.decision.word, reason.because) for reason in outcome.reasons]
    assert [kind for kind, _, _ in found] == ["class_floor", "egress_floor", "rule", "rule"]
    assert found[2:] == [("rule", "approve", "first"), ("rule", "deny", "second")]
    assert outcome.message == "second"
    assert [each["because"] for each in decision["body"]["reasons"]] == [because for _, _, because in found]


@pytest.mark.req("POL-1")
@pytest.mark.parametrize(
    ("name", "arguments", "decision", "kinds"),
    [
        ("echo", {"text": "x"}, "allow", ["class_floor", "egress_floor"]),
        ("publish", {"text": "x"}, "approve", ["class_floor", "egress_floor", "route"]),
        ("grant_access", {"person": "x"}, "approve_twice", ["class_floor", "egress_floor"]),
        ("by_pack", {"text": "x"}, "deny", ["class_floor", "egress_floor", "route"]),
        ("log_in", {"name": "x"}, "approve", ["class_floor", "egress_floor", "reveal"]),
    ],
)
async def test_explaining_lists_the_reasons_of_a_call_without_making_it(
    tmp_path: Path, name: str, arguments: dict[str, Any], decision: str, kinds: list[str]
) -> None:
    async with open_house(config(tmp_path)) as house:
        before = await house.events()
        explained = await house.runtime.explain("ana", name, arguments)
        assert await house.events() == before
        assert house.ran == []
        assert await house.runtime.approvals.list() == []
    assert (explained.decision.word, [reason.kind for reason in explained.reasons]) == (decision, kinds)


@pytest.mark.req("POL-1")
async def test_explaining_bad_arguments_gives_the_refusal_that_a_call_would_get(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        explained = await house.runtime.explain("ana", "echo", {"text": 1})
        called = assert_refused(await house.call("echo", {"text": 1}), "input_invalid")
        with pytest.raises(Misuse):
            await house.runtime.explain("nobody", "echo", {})
    assert (explained.code, explained.message) == (called.code, called.message)


@pytest.mark.req("POL-2")
@pytest.mark.parametrize(
    ("when", "amount", "votes"),
    [
        ({"args.amount": {"gt": 100}}, 100, 1),
        ({"args.amount": {"gt": 100}}, 101, 2),
        ({"args.amount": {"gte": 100}}, 100, 2),
        ({"args.amount": {"lt": 0}}, -1, 2),
        ({"args.amount": {"lte": 0}}, 1, 1),
        ({"args.amount": {"eq": 7}}, 7, 2),
        ({"args.amount": {"ne": 7}}, 7, 1),
        ({"args.amount": {"in": [1, 2]}}, 2, 2),
        ({"args.to": {"glob": "x*"}}, 1, 2),
        ({"args.to": {"matches": "^y"}}, 1, 1),
        ({"args.to": {"len_gt": 1}}, 1, 2),
        ({"args.memo": {"absent": True}}, 1, 2),
        ({"args.to": {"absent": True}}, 1, 1),
        ({"args.amount": {"gt": 10, "lt": 20}}, 15, 2),
        ({"args.amount": {"gt": 10, "lt": 20}}, 25, 1),
    ],
)
async def test_conditions_on_arguments_decide_whether_a_rule_holds(
    tmp_path: Path, when: dict[str, Any], amount: int, votes: int
) -> None:
    policy = rules(rule("approve_twice", tool="pay", when=when))
    async with open_house(config(tmp_path, policy=policy)) as house:
        assert assert_waiting(await house.call("pay", {"to": "xy", "amount": amount})).votes_needed == votes


@pytest.mark.req("POL-2")
async def test_leaving_an_argument_out_does_not_dodge_a_rule(tmp_path: Path) -> None:
    policy = rules(rule("deny", tool="look_up", when={"args.limit": {"gt": 100}}))
    async with open_house(config(tmp_path, policy=policy)) as house:
        assert_completed(await house.call("look_up", {"name": "x", "limit": 5}))
        assert_refused(await house.call("look_up", {"name": "x", "limit": 500}), "policy_denied")
        assert_refused(await house.call("look_up", {"name": "x"}), "policy_denied")


@pytest.mark.req("POL-2")
async def test_a_rule_that_raises_is_a_denial(tmp_path: Path) -> None:
    policy = rules(rule("allow", tool="echo", when={"args.text": {"gt": 5}}))
    async with open_house(config(tmp_path, policy=policy)) as house:
        outcome = assert_refused(await house.call("echo", {"text": "x"}), "policy_denied")
        assert house.ran == []
    assert outcome.reasons[-1].kind == "rule_error"


@pytest.mark.req("POL-1", "POL-2")
async def test_an_error_in_the_truth_table_itself_is_a_denial_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: RegisteredTool, *, grant: Grant) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(terms, "floors", broken)
    async with open_house(config(tmp_path)) as house:
        outcome = assert_refused(await house.call("echo", {"text": "x"}), "policy_denied")
        (decision,) = await house.events("policy_decision")
        assert house.ran == []
    assert "ZeroDivisionError" in outcome.message
    assert decision["body"]["decision"] == "deny"


@pytest.mark.req("POL-2")
@pytest.mark.parametrize("expected", ["holds", "not_holds"])
async def test_a_rule_whose_own_examples_say_otherwise_is_not_loaded(tmp_path: Path, expected: str) -> None:
    amount = 5 if expected == "holds" else 500
    line = rule("deny", tool="pay", when={"args.amount": {"gt": 100}})
    line[expected] = [{"tool": "pay", "agent": "ana", "args": {"to": "x", "amount": amount}}]
    with pytest.raises(ConfigInvalid, match="example"):
        async with open_house(config(tmp_path, policy=rules(line))):
            pass


@pytest.mark.req("POL-2")
async def test_a_rule_in_shadow_only_tells_the_trail_what_it_would_have_done(tmp_path: Path) -> None:
    watching = {**rule("deny", tool="echo", because="would deny"), "mode": "shadow"}
    async with open_house(config(tmp_path, policy=rules(watching))) as house:
        assert_completed(await house.call("echo", {"text": "x"}))
        (decision,) = await house.events("policy_decision")
    assert (decision["body"]["decision"], decision["body"]["shadow"][0]["because"]) == ("allow", "would deny")


@pytest.mark.req("POL-2")
@pytest.mark.parametrize(
    "match",
    [{"agent": "ana"}, {"class": "read"}, {"egress": "none"}, {"binding": "chat:*"}, {"tool": ["nothing", "ec*"]}],
)
async def test_a_rule_can_match_on_tool_agent_binding_class_and_egress(tmp_path: Path, match: dict[str, Any]) -> None:
    places = ("chat:one", "mail:one")
    policy = rules(rule("deny", **match))
    async with open_house(config(tmp_path, agent=bound(*places), accounts=accounts(*places), policy=policy)) as house:
        assert_refused(await house.call("echo", {"text": "x"}, binding="chat:one"), "policy_denied")
        other = await house.call("publish", {"text": "x"}, binding="mail:one")
    assert other.status == ("waiting" if "agent" not in match and "egress" not in match else "refused")


@pytest.mark.req("POL-2")
async def test_a_catastrophic_pattern_takes_no_longer_than_any_other(tmp_path: Path) -> None:
    policy = rules(rule("deny", tool="echo", when={"args.text": {"matches": "^(a+)+$"}}))
    async with open_house(config(tmp_path, policy=policy)) as house:
        assert_completed(await house.call("echo", {"text": "a" * 8_000 + "!"}))
