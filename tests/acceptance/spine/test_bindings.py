"""An agent on a channel: it sees less there, acts as one account, and says so on every record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.errors import CallRefused, ConfigInvalid, Misuse
from ringfence.runtime import blocking
from tests.acceptance.spine import toolbox, toolbox_channels
from tests.acceptance.spine.household import (
    AGENT,
    accounts,
    assert_completed,
    assert_refused,
    assert_waiting,
    bound,
    config,
    open_house,
    rule,
    rules,
    scripted,
)

TWO = ("chat:one", "chat:two")


def on_two(tmp_path: Path, *, agent: dict[str, Any] | None = None, one: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A config in which `chat:one` is narrowed and `chat:two` is not."""
    places = [*bound("chat:one", **one)["bindings"], *bound("chat:two")["bindings"]]
    return config(tmp_path, agent={**(agent or {}), "bindings": places}, accounts=accounts(*TWO), **more)


@pytest.mark.req("VIEW-3", "VIEW-2")
async def test_a_binding_leaves_in_what_both_lists_have(tmp_path: Path) -> None:
    settings = on_two(tmp_path, agent={"allowed_tools": ["echo", "look_up"]}, one={"allowed_tools": ["echo", "pay"]})
    async with open_house(settings) as house:
        assert [each.name for each in house.session(binding="chat:one").view] == ["echo"]
        assert [each.name for each in house.session(binding="chat:two").view] == ["echo", "look_up"]
        assert_completed(await house.call("echo", {"text": "x"}, binding="chat:one"))
        here = assert_refused(await house.call("look_up", {"name": "x"}, binding="chat:one"), "tool_not_found")
        never = assert_refused(await house.call("never_was", {"name": "x"}, binding="chat:one"), "tool_not_found")
        assert_refused(await house.call("pay", {"to": "x", "amount": 1}, binding="chat:one"), "tool_not_found")
        assert_completed(await house.call("look_up", {"name": "x"}, binding="chat:two"))
    assert {**here.as_dict(), "invocation_id": ""} == {**never.as_dict(), "invocation_id": ""}


@pytest.mark.req("VIEW-3")
async def test_an_empty_list_of_a_binding_narrows_nothing(tmp_path: Path) -> None:
    async with open_house(on_two(tmp_path, agent={"allowed_tools": ["echo"]}, one={"allowed_tools": []})) as house:
        assert [each.name for each in house.session(binding="chat:one").view] == ["echo"]


@pytest.mark.req("VIEW-3", "VIEW-4", "VIEW-5")
@pytest.mark.parametrize(
    ("narrowing", "tool", "capability"),
    [
        ({"network": {"allow": []}}, "fetch_lead", "network"),
        ({"files": {"read": ["knowledge/public"]}}, "read_page", "files"),
        ({"files": {"read": ["knowledge"]}}, "draft", "files"),
        ({"secrets": {"allow": []}}, "log_in", "secrets"),
        ({"processes": {"allow": []}}, "history", "processes"),
    ],
)
async def test_a_need_that_does_not_fit_the_binding_hides_the_tool_there(
    tmp_path: Path, narrowing: dict[str, Any], tool: str, capability: str
) -> None:
    async with open_house(on_two(tmp_path, one=narrowing)) as house:
        here = await house.runtime.status("ana", binding="chat:one")
        there = await house.runtime.status("ana", binding="chat:two")
    (error,) = [each for each in here.errors if each.tool == tool]
    assert (error.capability, "the binding `chat:one`'s" in error.message) == (capability, True)
    assert tool in {each.name for each in there.tools}


@pytest.mark.req("VIEW-3", "CON-14")
async def test_what_an_author_leaves_to_the_agent_is_what_the_binding_leaves_of_it(tmp_path: Path) -> None:
    narrowing = {"files": {"read": ["knowledge/public", "elsewhere"], "write": ["outbox"]}}
    sandbox = scripted(serves=frozenset({"files"}))
    async with open_house(on_two(tmp_path, one=narrowing), sandbox=sandbox) as house:
        assert_completed(await house.call("draft", {"title": "x"}, binding="chat:one"))
        assert_completed(await house.call("draft", {"title": "x"}, binding="chat:two"))
    assert [job.grant.document() for job in sandbox.jobs] == [
        [{"kind": "files", "read": ["knowledge/public"], "write": ["outbox"]}],
        [{"kind": "files", "read": ["knowledge"], "write": ["outbox"]}],
    ]


@pytest.mark.req("VIEW-3")
async def test_an_agent_with_bindings_opens_no_session_without_one(tmp_path: Path) -> None:
    async with open_house(on_two(tmp_path, one={})) as house:
        with pytest.raises(CallRefused) as refusal:
            house.session()
        with pytest.raises(Misuse, match="has no binding `chat:three`"):
            house.session(binding="chat:three")
        with pytest.raises(Misuse, match="has no binding"):
            await house.runtime.status("ana", binding="chat:three")
        with pytest.raises(Misuse, match="has no binding"):
            await house.runtime.explain("ana", "echo", {"text": "x"}, binding="chat:three")
        base = await house.runtime.status("ana")
        explained = await house.runtime.explain("ana", "echo", {"text": "x"})
    assert (refusal.value.code, refusal.value.remedy) == ("binding_required", "name one of `chat:one`, `chat:two`")
    assert (base.binding, base.account, base.bindings) == (None, None, TWO)
    assert explained.decision.word == "allow"


@pytest.mark.req("VIEW-3")
async def test_an_agent_without_bindings_cannot_be_given_one(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        with pytest.raises(Misuse, match="has no binding"):
            house.session(binding="chat:one")


@pytest.mark.req("VIEW-3")
def test_the_blocking_twin_is_held_to_the_same_bindings(tmp_path: Path) -> None:
    settings = on_two(tmp_path, one={"allowed_tools": ["echo"]})
    with blocking(open_runtime(settings, tools=toolbox.ALL, dangerously_sandbox=scripted())) as runtime:
        with pytest.raises(CallRefused, match="the session names none"):
            runtime.session(agent="ana")
        assert_completed(runtime.session(agent="ana", binding="chat:one").call("echo", {"text": "x"}))
        assert runtime.explain("ana", "note", {"text": "x"}, binding="chat:one").code == "tool_not_found"
        assert runtime.explain("ana", "note", {"text": "x"}, binding="chat:two").code is None


@pytest.mark.req("VIEW-7", "APR-2", "AUD-1")
async def test_the_account_is_on_the_card_the_job_and_the_trail(tmp_path: Path) -> None:
    async with open_house(on_two(tmp_path, one={})) as house:
        session = house.session(binding="chat:one")
        asked = assert_waiting(await session.call("pay", {"to": "x", "amount": 1}))
        (approval,) = await house.runtime.approvals.list()
        await house.vote(asked, "alice")
        assert_completed(await session.resume(asked.invocation_id))
        events = await house.events("view_built", "tool_proposed", "tool_started")
    assert (approval.card["binding"], approval.card["account"]) == ("chat:one", "chat:one")
    (job,) = house.sandbox.jobs
    assert job.account is not None
    assert job.account.name == "chat:one"
    assert [event["body"].get("binding", event["body"].get("account")) for event in events] == ["chat:one"] * 3
    assert [event["body"]["account"] for event in events[1:]] == ["chat:one"] * 2


@pytest.mark.req("VIEW-7", "APR-2")
async def test_a_call_that_was_approved_on_one_channel_does_not_run_on_another(tmp_path: Path) -> None:
    async with open_house(on_two(tmp_path, one={})) as house:
        asked = assert_waiting(await house.call("pay", {"to": "x", "amount": 1}, id="s1", binding="chat:one"))
        await house.vote(asked, "alice")
        stranger = house.session(id="s1", binding="chat:two")
        assert_refused(await stranger.resume(asked.invocation_id), "approval_void")
        with pytest.raises(Misuse, match="belongs to another"):
            await stranger.call("echo", {"text": "x"})
        assert house.ran == []
        assert_completed(await house.session(id="s1", binding="chat:one").resume(asked.invocation_id))


@pytest.mark.req("VIEW-3", "APR-2")
async def test_a_binding_narrowed_meanwhile_stops_a_call_that_waits(tmp_path: Path) -> None:
    async with open_house(on_two(tmp_path, one={})) as house:
        asked = assert_waiting(await house.call("pay", {"to": "x", "amount": 1}, id="s1", binding="chat:one"))
        await house.vote(asked, "alice")
    async with open_house(on_two(tmp_path, one={"allowed_tools": ["echo"]})) as house:
        session = house.session(id="s1", binding="chat:one")
        assert_refused(await session.resume(asked.invocation_id), "tool_not_found")
        assert house.ran == []


@pytest.mark.req("VIEW-3", "POL-2")
async def test_a_rule_at_a_binding_adds_and_never_takes_away(tmp_path: Path) -> None:
    policy = rules(rule("approve", tool="echo"), rule("allow", tool="*", binding="chat:one"))
    async with open_house(on_two(tmp_path, one={}, policy=policy)) as house:
        assert_waiting(await house.call("echo", {"text": "x"}, binding="chat:one"))
        assert_waiting(await house.call("echo", {"text": "x"}, binding="chat:two"))


@pytest.mark.req("VIEW-7", "CON-14")
async def test_a_tool_that_signs_in_as_one_account_does_not_exist_on_another(tmp_path: Path) -> None:
    agent = {
        "network": {"allow": ["api.chat.example"]},
        "secrets": {"allow": ["CHAT_SALES", "CHAT_BOSS"]},
        **bound("chat:sales", "chat:boss"),
    }
    instances = {
        "sales": {"agents": ["ana"], "credential": "CHAT_SALES"},
        "boss": {"agents": ["ana"], "credential": "CHAT_BOSS"},
    }
    secrets = {"CHAT_SALES": {"env": "CHAT_SALES"}, "CHAT_BOSS": {"env": "CHAT_BOSS"}}
    settings = config(tmp_path, agent=agent, accounts={"chat": instances}, secrets=secrets)
    tools = (toolbox_channels.read_chat, toolbox.echo)
    async with open_house(settings, tools=tools) as house:
        assert [each.name for each in house.session(binding="chat:sales").view] == ["echo", "read_chat"]
        assert [each.name for each in house.session(binding="chat:boss").view] == ["echo"]
        assert_refused(await house.call("read_chat", {"room": "x"}, binding="chat:boss"), "tool_not_found")


@pytest.mark.req("VIEW-7")
async def test_a_binding_on_an_account_that_does_not_allow_the_agent_opens_nothing(tmp_path: Path) -> None:
    settings = config(tmp_path, agent=bound("chat:one"), accounts=accounts("chat:one", agents=["ben"]))
    settings["agents"]["ben"] = AGENT
    with pytest.raises(ConfigInvalid, match="does not allow the agent `ana`"):
        async with open_house(settings):
            pass
