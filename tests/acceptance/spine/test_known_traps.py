"""Defects of systems like this one, each a sentence and a test."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from ringfence import Network
from ringfence.assembly import open_runtime
from ringfence.contract.call import Shape
from ringfence.contract.context import DeclaredSecrets
from ringfence.contract.hosts import allows
from ringfence.contract.secret import SecretRef
from ringfence.errors import CallFailed, ConfigInvalid, DeclarationRefused
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import assert_completed, assert_refused, config, open_house, rule, rules

EMPTY: dict[str, dict[str, Any]] = {"an_empty_list": {"allow": []}, "no_list": {}}


@pytest.mark.req("NET-3", "VIEW-4")
async def test_an_empty_host_allowlist_means_nothing_is_allowed_not_everything(tmp_path: Path) -> None:
    assert not allows([], "api.crm.example", 443)
    for name, network in EMPTY.items():
        async with open_house(config(tmp_path / name, agent={"network": network})) as house:
            assert_refused(await house.call("fetch_lead", {"name": "x"}), "tool_not_found")
            assert house.ran == []


@pytest.mark.req("NET-3", "VIEW-4")
@pytest.mark.parametrize(
    ("allowed", "seen"), [("*.crm.example", True), ("crm.example", False), ("*.api.crm.example", False)]
)
async def test_a_wildcard_and_the_apex_one_matcher_everywhere(tmp_path: Path, allowed: str, seen: bool) -> None:
    assert allows([allowed], "api.crm.example", 443) is seen
    async with open_house(config(tmp_path, agent={"network": {"allow": [allowed]}})) as house:
        assert ("fetch_lead" in {each.name for each in house.session().view}) is seen
        if seen:
            assert_completed(await house.call("fetch_lead", {"name": "x"}))
            assert house.sandbox.jobs[0].grant.capabilities == (Network("api.crm.example"),)


@pytest.mark.req("CON-14")
async def test_explicit_paths_are_intersected_at_call_time_too_not_only_at_registration(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"files": {"read": ["."], "write": ["outbox", "keys"]}})) as house:
        assert_completed(await house.call("draft", {"title": "x"}))
        (job,) = house.sandbox.jobs
    assert job.grant.document() == [{"kind": "files", "read": ["."], "write": ["outbox"]}]


@pytest.mark.req("VIEW-4")
async def test_registration_findings_cannot_be_ignored_by_a_caller(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"processes": {"allow": []}})) as house:
        view = house.session().view
        assert [each.tool for each in view.errors] == ["history"]
        assert "history" not in view.visible
        assert_refused(await house.call("history", {"path": "x"}), "tool_not_found")
        assert house.ran == []


@pytest.mark.req("CON-12")
def test_a_refused_secret_name_is_not_echoed() -> None:
    held = DeclaredSecrets({"CRM_KEY": SecretRef("CRM_KEY", placeholder="p")})
    assert str(held["CRM_KEY"]) == "[REDACTED:CRM_KEY]"
    with pytest.raises(CallFailed) as refusal:
        held["STRIPE_KEY"]
    assert refusal.value.code == "secret_not_declared"
    assert "STRIPE_KEY" not in refusal.value.message + refusal.value.remedy
    assert "CRM_KEY" not in refusal.value.message + refusal.value.remedy


@pytest.mark.req("VIEW-2")
async def test_a_hallucinated_tool_name_and_a_hidden_one_get_the_same_words(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"allowed_tools": ["echo"]})) as house:
        hidden = assert_refused(await house.call("pay", {}), "tool_not_found").as_dict()
        made_up = assert_refused(await house.call("hallucinated", {}), "tool_not_found").as_dict()
    assert {**hidden, "invocation_id": ""} == {**made_up, "invocation_id": ""}


@pytest.mark.req("VIEW-1")
@pytest.mark.parametrize("line", ["unknown: 1", "agents: {ana: {allowed_tools: [], polcy: 1}}", "Version: 1"])
async def test_unknown_yaml_keys_fail(tmp_path: Path, line: str) -> None:
    (tmp_path / "ringfence.yaml").write_text(f"version: 1\n{line}\n")
    with pytest.raises(ConfigInvalid, match="unknown key"):
        async with open_runtime(tmp_path / "ringfence.yaml"):
            pass


@pytest.mark.req("POL-2")
async def test_a_rule_that_raises_is_a_denial(tmp_path: Path) -> None:
    policy = rules(rule("allow", tool="echo", when={"args.text": {"gt": 1}}))
    async with open_house(config(tmp_path, policy=policy)) as house:
        assert_refused(await house.call("echo", {"text": "x"}), "policy_denied")
        assert house.ran == []


@pytest.mark.req("CON-3")
@pytest.mark.parametrize("scheme", ["http", "https", "file"])
def test_validators_do_not_fetch_a_remote_ref(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    def fetched(*_: Any) -> NoReturn:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(socket.socket, "connect", fetched)
    schema = {"type": "object", "properties": {"text": {"$ref": f"{scheme}://127.0.0.1/schema.json"}}}
    with pytest.raises(DeclarationRefused):
        Shape(replace(toolbox.echo, input_schema=schema))


@pytest.mark.req("APR-1", "CON-3")
async def test_approval_is_not_asked_before_arguments_are_validated(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_refused(await house.call("pay", {"to": "shop", "amount": "all of it"}), "input_invalid")
        assert await house.runtime.approvals.list() == []
        assert await house.events("tool_invocation_approval_required") == []
