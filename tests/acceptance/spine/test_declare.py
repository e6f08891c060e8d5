"""Declaring a tool, seen from an open runtime: what the contract says is what the caller meets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ringfence import Context, Tool, tool
from ringfence.errors import DeclarationRefused
from ringfence.runtime import Failed, Waiting
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import (
    assert_completed,
    assert_refused,
    assert_waiting,
    config,
    fault,
    open_house,
    reply,
    rule,
    rules,
    scripted,
)


@pytest.mark.req("CON-1")
async def test_a_tool_is_listed_with_everything_its_declaration_says(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        found = {each.name: each for each in house.session().view}
    look_up = found["look_up"]
    assert (look_up.description, look_up.safety, look_up.egress) == ("Find customers by name.", "read", "none")
    assert look_up.input_schema["required"] == ["name"]
    assert look_up.input_schema["properties"]["limit"]["default"] == 10
    assert look_up.output_schema["type"] == "array"
    assert look_up.fingerprint == toolbox.look_up.fingerprint


@pytest.mark.req("CON-1")
@pytest.mark.parametrize(("name", "arguments"), [("look_up", {"name": "x"}), ("echo", {"text": "x"})])
async def test_plain_and_async_functions_are_both_tools(tmp_path: Path, name: str, arguments: dict[str, Any]) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_completed(await house.call(name, arguments))


@pytest.mark.req("CON-1")
async def test_one_model_as_the_only_parameter_is_the_whole_input(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        assert assert_completed(await house.call("order", {"item": "pen", "count": 2})).output == 2
        assert_refused(await house.call("order", {"order": {"item": "pen", "count": 2}}), "input_invalid")


@pytest.mark.req("CON-1")
async def test_a_tool_whose_secret_is_missing_on_this_host_is_hidden_with_that_reason(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        status = await house.runtime.status("ana")
        assert_refused(await house.call("needs_a_secret", {"name": "x"}), "tool_not_found")
    hidden = {each.tool: each for each in status.hidden}
    assert hidden["needs_a_secret"].reason == "not_available"
    assert "secret:NO_SUCH_SECRET" in hidden["needs_a_secret"].message


@pytest.mark.req("CON-1")
async def test_a_tool_whose_secret_is_configured_and_there_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_SECRET", "not-so-secret")
    async with open_house(config(tmp_path, secrets={"NO_SUCH_SECRET": {"env": "THE_SECRET"}})) as house:
        assert_completed(await house.call("needs_a_secret", {"name": "x"}))


@pytest.mark.req("CON-1")
async def test_a_result_with_words_for_the_model_gives_both_output_and_words(tmp_path: Path) -> None:
    jail = scripted({"tell": reply({"a": 1}, for_model="one \x1b[2Jthing")})
    async with open_house(config(tmp_path), sandbox=jail) as house:
        outcome = assert_completed(await house.call("tell", {"question": "a"}))
    assert (outcome.output, outcome.text) == ({"a": 1}, "one thing")


@pytest.mark.req("CON-2", "CON-3")
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "name"),
        ({"name": 1}, "name"),
        ({"name": "x", "limit": "1"}, "limit"),
        ({"name": "x", "limit": True}, "limit"),
        ({"name": "x", "limit": 1.5}, "limit"),
        ({"name": "x", "limit": 2**53}, "limit"),
        ({"name": "x", "other": 1}, "other"),
        ({"name": "x" * 8_193}, "name"),
        ({"name": None}, "name"),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_and_the_argument_is_named(
    tmp_path: Path, arguments: dict[str, Any], why: str
) -> None:
    async with open_house(config(tmp_path)) as house:
        outcome = assert_refused(await house.call("look_up", arguments), "input_invalid")
        assert house.ran == []
    assert why in outcome.message


@pytest.mark.req("CON-2")
@pytest.mark.parametrize("limit", [2**53 - 1, -(2**53) + 1])
async def test_the_largest_safe_integers_and_the_longest_default_text_fit(tmp_path: Path, limit: int) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_completed(await house.call("look_up", {"name": "x" * 8_192, "limit": limit}))


@pytest.mark.req("CON-3")
@pytest.mark.parametrize(
    ("changed", "why"),
    [({"code": "A1"}, "code"), ({"address": "300.1.1.1"}, "address"), ({"address": "host"}, "address")],
)
async def test_patterns_and_formats_are_asserted(tmp_path: Path, changed: dict[str, Any], why: str) -> None:
    good = {"code": "abc", "address": "192.0.2.1", "number": 1}
    async with open_house(config(tmp_path)) as house:
        assert_completed(await house.call("narrow", good))
        assert why in assert_refused(await house.call("narrow", {**good, **changed}), "input_invalid").message


@pytest.mark.req("CON-3")
async def test_hidden_characters_in_arguments_are_findings_on_the_trail_and_on_the_card(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        asked = assert_waiting(await house.call("publish", {"text": "pay \u202eeve"}))
        (proposed,) = await house.events("tool_proposed")
        (approval,) = await house.runtime.approvals.list()
    assert proposed["body"]["findings"] == ["bidi_control"]
    assert (approval.id, approval.card["findings"]) == (asked.approval_id, ["bidi_control"])


@pytest.mark.req("CON-4")
@pytest.mark.parametrize(
    ("name", "arguments", "votes"),
    [
        ("echo", {"text": "x"}, 0),
        ("note", {"text": "x"}, 0),
        ("pay", {"to": "x", "amount": 1}, 1),
        ("grant_access", {"person": "x"}, 2),
    ],
)
async def test_the_class_alone_decides_how_many_votes_a_call_needs_at_least(
    tmp_path: Path, name: str, arguments: dict[str, Any], votes: int
) -> None:
    async with open_house(config(tmp_path)) as house:
        outcome = await house.call(name, arguments)
    assert (outcome.votes_needed if isinstance(outcome, Waiting) else 0) == votes


@pytest.mark.req("CON-4")
async def test_an_allow_rule_does_not_lower_a_class_floor(tmp_path: Path) -> None:
    settings = config(tmp_path, policy=rules(rule("allow", tool="*")))
    async with open_house(settings) as house:
        assert assert_waiting(await house.call("pay", {"to": "x", "amount": 1})).votes_needed == 1
        assert assert_waiting(await house.call("grant_access", {"person": "x"})).votes_needed == 2


@pytest.mark.req("CON-5")
@pytest.mark.parametrize(
    ("declared", "egress"), [(toolbox.echo, "none"), (toolbox.fetch_lead, "read_only"), (toolbox.post_lead, "write")]
)
async def test_the_egress_class_follows_from_class_and_needs_and_is_listed(
    tmp_path: Path, declared: Tool, egress: str
) -> None:
    async with open_house(config(tmp_path)) as house:
        found = {each.name: each.egress for each in house.session().view}
    assert found[declared.name] == egress


@pytest.mark.req("CON-5")
async def test_egress_that_changes_the_far_side_always_needs_a_vote(tmp_path: Path) -> None:
    settings = config(tmp_path, policy=rules(rule("allow", egress="write")))
    async with open_house(settings) as house:
        assert assert_waiting(await house.call("post_lead", {"name": "x"})).votes_needed == 1
        assert_completed(await house.call("fetch_lead", {"name": "x"}))


@pytest.mark.req("CON-6")
async def test_a_tool_that_declares_no_need_is_granted_nothing(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_completed(await house.call("echo", {"text": "x"}))
        (job,) = house.sandbox.jobs
        (started,) = await house.events("tool_started")
    assert job.grant.capabilities == ()
    assert started["body"]["grant"] == []


@pytest.mark.req("CON-6", "CON-14")
async def test_every_kind_of_need_is_granted_as_declared_and_permitted(tmp_path: Path) -> None:
    calls = [
        ("fetch_lead", {"name": "x"}, {"network"}),
        ("read_page", {"title": "x"}, {"files"}),
        ("history", {"path": "x"}, {"processes"}),
        ("remember", {"key": "x"}, {"storage"}),
    ]
    async with open_house(config(tmp_path)) as house:
        for name, arguments, kinds in calls:
            assert_completed(await house.call(name, arguments))
            assert house.sandbox.jobs[-1].grant.kinds == kinds


@pytest.mark.req("CON-7")
def test_a_tool_with_consequences_says_whether_it_may_happen_twice() -> None:
    with pytest.raises(DeclarationRefused, match="idempotency"):

        @tool(safety="write")
        def change(name: str) -> str:  # pyright: ignore[reportUnusedFunction]
            """Change something."""
            return name


@pytest.mark.req("CON-7", "IDM-1")
async def test_a_tool_that_says_so_gets_a_key_with_every_call(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_completed(await house.call("note", {"text": "x"}))
    assert house.sandbox.jobs[0].idempotency_key.startswith("sha256:")


@pytest.mark.req("CON-8")
async def test_a_route_raises_a_floor_and_an_unknown_pack_refuses(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        assert assert_waiting(await house.call("publish", {"text": "x"})).votes_needed == 1
        assert_refused(await house.call("by_pack", {"text": "x"}), "policy_denied")


@pytest.mark.req("CON-9")
@pytest.mark.parametrize(("name", "attempts"), [("flaky", 3), ("flaky_write", 1), ("deduped_write", 3), ("echo", 1)])
async def test_a_call_is_repeated_by_itself_only_where_a_second_time_does_no_harm(
    tmp_path: Path, name: str, attempts: int
) -> None:
    async with open_house(config(tmp_path), sandbox=scripted({name: fault("it failed")})) as house:
        arguments = {"text": "x"} if name == "echo" else {"name": "x"}
        assert isinstance(await house.call(name, arguments), Failed)
    assert house.ran == [name] * attempts


@pytest.mark.req("CON-9")
async def test_the_first_reply_ends_the_repeating(tmp_path: Path) -> None:
    tries: list[int] = []

    def third_time(said: dict[str, Any]) -> str:
        tries.append(1)
        if len(tries) < 3:
            raise OSError("not yet")
        return str(said["name"])

    async with open_house(config(tmp_path), sandbox=scripted({"flaky": third_time})) as house:
        assert assert_completed(await house.call("flaky", {"name": "x"})).output == "x"
        assert len(await house.events("tool_started")) == 1


@pytest.mark.req("CON-9")
@pytest.mark.parametrize("code", ["memory_limit", "output_limit", "protocol_error"])
async def test_a_fault_that_would_come_again_is_not_tried_again(tmp_path: Path, code: str) -> None:
    async with open_house(config(tmp_path), sandbox=scripted({"flaky": fault("it failed", code=code)})) as house:
        await house.call("flaky", {"name": "x"})
    assert house.ran == ["flaky"]


@pytest.mark.req("CON-10", "REG-4")
async def test_fingerprint_source_digest_and_description_are_on_record_at_registration_and_at_every_call(
    tmp_path: Path,
) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_completed(await house.call("echo", {"text": "x"}))
        registered = [e for e in await house.events("tool_registered") if e["tool"] == "echo"]
        (started,) = await house.events("tool_started")
    (at_first,) = registered
    assert at_first["body"]["description"] == "Say the same again."
    for name in ("fingerprint", "source_digest", "description_hash"):
        assert at_first["body"][name] == started["body"][name]
    assert started["body"]["fingerprint"] == toolbox.echo.fingerprint


@pytest.mark.req("CON-12")
async def test_the_context_is_no_argument_of_the_call(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_completed(await house.call("who", {"name": "x"}))
        assert_refused(await house.call("who", {"name": "x", "ctx": {"agent": "root"}}), "input_invalid")
        (job,) = house.sandbox.jobs
    assert (job.agent, json.loads(job.arguments)) == ("ana", {"name": "x"})


@pytest.mark.req("CON-12")
def test_two_contexts_are_refused() -> None:
    with pytest.raises(DeclarationRefused, match="both the context"):

        @tool(safety="read")
        def twice(one: Context, other: Context) -> str:  # pyright: ignore[reportUnusedFunction]
            """Ask twice."""
            return one.agent + other.agent


@pytest.mark.req("CON-13")
async def test_a_tool_that_no_jail_could_import_again_is_refused_with_the_remedy(tmp_path: Path) -> None:
    @tool(safety="read")
    def nested(name: str) -> str:
        """Live inside another function."""
        return name

    with pytest.raises(DeclarationRefused, match="jail") as refusal:
        async with open_house(config(tmp_path), tools=[nested]):
            pass
    assert "module" in refusal.value.remedy
