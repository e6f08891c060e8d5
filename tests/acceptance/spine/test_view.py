"""What one agent can see, and that nothing else exists for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.errors import ConfigInvalid, Misuse
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import AGENT, assert_completed, assert_refused, assert_waiting, config, open_house

RANDOM = {"invocation_id", "at", "seq", "hash", "previous", "body_digest", "body_text", "tool", "writer"}


def told(event: dict[str, Any]) -> dict[str, Any]:
    """An event without what differs between any two calls."""
    body = {name: value for name, value in event["body"].items() if name != "session"}
    return {**{name: value for name, value in event.items() if name not in RANDOM}, "body": body}


@pytest.mark.req("VIEW-1")
async def test_a_list_of_globs_is_a_strict_allowlist(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"allowed_tools": ["echo", "look_*"]})) as house:
        assert sorted(each.name for each in house.session().view) == ["echo", "look_up"]
        assert_completed(await house.call("look_up", {"name": "x"}))
        assert_refused(await house.call("note", {"text": "x"}), "tool_not_found")


@pytest.mark.req("VIEW-1")
async def test_an_empty_list_is_every_tool_that_fits(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"allowed_tools": []})) as house:
        assert len(list(house.session().view)) == len(toolbox.ALL) - 1  # one lacks its secret


@pytest.mark.req("VIEW-1")
async def test_an_agent_without_allowed_tools_is_an_error(tmp_path: Path) -> None:
    settings = config(tmp_path, agents={"ana": {"owner": "carol"}})
    with pytest.raises(ConfigInvalid, match="allowed_tools"):
        async with open_house(settings):
            pass


@pytest.mark.req("VIEW-1")
async def test_a_mistake_in_the_file_is_told_with_file_line_and_the_nearest_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ringfence.yaml").write_text("version: 1\nagents:\n  ana:\n    allowd_tools: []\n")
    with pytest.raises(ConfigInvalid, match=r"ringfence\.yaml:4.*allowed_tools"):
        async with open_runtime("ringfence.yaml"):
            pass


@pytest.mark.req("VIEW-2", "AUD-1")
async def test_a_hidden_tool_and_one_that_never_was_get_the_same_words_and_the_same_record(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"allowed_tools": ["echo"]})) as house:
        hidden = assert_refused(await house.call("pay", {"to": "x", "amount": 1}), "tool_not_found")
        never = assert_refused(await house.call("pai", {"to": "x", "amount": 1}), "tool_not_found")
        events = await house.events("tool_proposed", "policy_decision")
    assert {**hidden.as_dict(), "invocation_id": ""} == {**never.as_dict(), "invocation_id": ""}
    assert hidden.for_model().splitlines()[1:] != []
    assert [line.split("] ")[0][45:] for line in hidden.for_model().splitlines()] == [
        line.split("] ")[0][45:] for line in never.for_model().splitlines()
    ]
    assert [told(each) for each in events[:2]] == [told(each) for each in events[2:]]


@pytest.mark.req("VIEW-2")
async def test_a_hidden_tool_is_refused_alike_with_good_bad_and_hostile_arguments(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"allowed_tools": ["echo"]})) as house:
        tried = [
            assert_refused(await house.call(name, arguments), "tool_not_found")
            for name in ("pay", "no_such_tool")
            for arguments in ({"to": "x", "amount": 1}, {}, {"to": float("nan")}, {"to": "\ud800"}, {"to": 10**400})
        ]
    assert len({(each.message, each.remedy, each.reasons) for each in tried}) == 1


@pytest.mark.req("VIEW-2")
async def test_explaining_a_hidden_tool_says_no_more_than_calling_it(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"allowed_tools": ["echo"]})) as house:
        hidden = await house.runtime.explain("ana", "pay", {"to": "x", "amount": 1})
        never = await house.runtime.explain("ana", "pai", {"to": "x", "amount": 1})
    assert hidden == never
    assert (hidden.code, hidden.decision.word) == ("tool_not_found", "deny")


@pytest.mark.req("VIEW-2")
async def test_a_view_cannot_be_widened_by_its_holder(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"allowed_tools": ["echo"]})) as house:
        view = house.session().view
        with pytest.raises(TypeError):
            view.visible["pay"] = view.visible["echo"]
        with pytest.raises(AttributeError):
            view.visible = {}


@pytest.mark.req("VIEW-4")
@pytest.mark.parametrize(
    ("change", "tool", "capability", "named"),
    [
        ({"network": {"allow": []}}, "fetch_lead", "network", "api.crm.example"),
        ({"network": {"allow": ["crm.example"]}}, "fetch_lead", "network", "api.crm.example"),
        ({"files": {"read": ["knowledge/public"], "write": ["outbox"]}}, "read_page", "files", "knowledge"),
        ({"files": {"read": [], "write": ["outbox"]}}, "draft", "files", "none to read"),
        ({"secrets": {"allow": []}}, "log_in", "secrets", "CRM_KEY"),
        ({"processes": {"allow": []}}, "history", "processes", "git"),
    ],
)
async def test_a_need_that_does_not_fit_the_agent_hides_the_tool_and_is_kept_as_a_record(
    tmp_path: Path, change: dict[str, Any], tool: str, capability: str, named: str
) -> None:
    async with open_house(config(tmp_path, agent=change)) as house:
        status = await house.runtime.status("ana")
        arguments = {"draft": {"title": "x"}, "read_page": {"title": "x"}, "history": {"path": "x"}}
        assert_refused(await house.call(tool, arguments.get(tool, {"name": "x"})), "tool_not_found")
    misfits = [each for each in status.errors if each.tool == tool]
    assert [each.capability for each in misfits] == [capability]
    assert named in misfits[0].message
    assert {each.tool: each.reason for each in status.hidden}[tool] == "capability_misfit"


@pytest.mark.req("VIEW-5")
async def test_status_names_every_tool_and_for_each_hidden_one_why(tmp_path: Path) -> None:
    change: dict[str, Any] = {"allowed_tools": ["echo", "fetch_lead", "needs_a_secret"], "network": {"allow": []}}
    async with open_house(config(tmp_path, agent=change)) as house:
        status = (await house.runtime.status("ana")).as_dict()
    assert [each["name"] for each in status["tools"]] == ["echo"]
    assert status["tools"][0]["floor"] == "allow"
    reasons = {each["tool"]: each["reason"] for each in status["hidden"]}
    assert len(reasons) == len(toolbox.ALL) - 1
    assert reasons["pay"] == "not_allowed"
    assert reasons["fetch_lead"] == "capability_misfit"
    assert reasons["needs_a_secret"] == "not_available"


@pytest.mark.req("VIEW-5", "AUD-1")
async def test_the_trail_holds_what_the_agent_could_see_before_its_first_call(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"allowed_tools": ["echo"]})) as house:
        assert_completed(await house.call("echo", {"text": "x"}))
        assert_completed(await house.call("echo", {"text": "y"}))
        (built,) = await house.events("view_built")
        (loaded,) = await house.events("config_loaded")
    assert built["body"]["visible"] == {"echo": toolbox.echo.fingerprint}
    assert built["body"]["hidden"]["pay"] == "not_allowed"
    assert loaded["body"]["agents"] == ["ana"]


@pytest.mark.req("VIEW-1", "VIEW-2")
async def test_two_agents_see_two_different_worlds(tmp_path: Path) -> None:
    agents = {"ana": {**AGENT, "allowed_tools": ["echo"]}, "ben": {**AGENT, "allowed_tools": ["pay"]}}
    async with open_house(config(tmp_path, agents=agents)) as house:
        assert_refused(await house.call("pay", {"to": "x", "amount": 1}), "tool_not_found")
        assert_waiting(await house.call("pay", {"to": "x", "amount": 1}, agent="ben"))
        with pytest.raises(Misuse, match="no agent"):
            house.session(agent="eve")
