"""Bindings at the command line: named by whoever types, narrowing what the agent can do."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.cli.typed import Shop

BOUND = """    allowed_tools: [greet, word_count, draft_reply, refund]
    bindings:
      - {channel: web, instance: shop, allowed_tools: [greet, refund]}
      - {channel: mail, instance: desk}
"""
ACCOUNTS = "accounts:\n  web: {shop: {agents: [ana]}}\n  mail: {desk: {agents: [ana]}}\n\nagents:\n"


@pytest.fixture
def bound_shop(shop: Shop) -> Shop:
    shop.edit("ringfence.yaml", "    allowed_tools: [greet, word_count, draft_reply, refund]\n", BOUND)
    shop.edit("ringfence.yaml", "agents:\n  ana:", f"{ACCOUNTS}  ana:")
    return shop


@pytest.mark.req("VIEW-3", "VIEW-5")
def test_status_shows_the_agent_and_on_a_binding_what_is_left(bound_shop: Shop) -> None:
    base, here = bound_shop.json("status", "ana"), bound_shop.json("status", "ana", "--binding", "web:shop")
    assert [tool["name"] for tool in base["tools"]] == ["draft_reply", "greet", "refund", "word_count"]
    assert (base["binding"], base["account"], base["bindings"]) == (None, None, ["web:shop", "mail:desk"])
    assert [tool["name"] for tool in here["tools"]] == ["greet", "refund"]
    assert (here["binding"], here["account"]) == ("web:shop", "web:shop")
    why = {each["tool"]: each["message"] for each in here["hidden"]}
    assert why["word_count"] == "no pattern in `allowed_tools` of the binding `web:shop` matches it"
    assert [each["agent"] for each in bound_shop.json("status", "--binding", "web:shop")["agents"]] == ["ana"]


@pytest.mark.req("VIEW-3")
def test_a_call_needs_one_of_the_agents_bindings(bound_shop: Shop) -> None:
    none = bound_shop.typed("call", "ana", "greet", '{"name": "Ada"}')
    wrong = bound_shop.typed("call", "ana", "greet", '{"name": "Ada"}', "--binding", "web:shop ")
    other = bound_shop.typed("call", "ops", "greet", '{"name": "Ada"}', "--binding", "web:shop")
    assert [came.code for came in (none, wrong, other)] == [4, 2, 2]
    assert none.err.startswith("error[binding_required]: ")
    assert "remedy: name one of `web:shop`, `mail:desk`" in wrong.err
    done = bound_shop.typed("call", "ana", "greet", '{"name": "Ada"}', "--binding", "web:shop")
    assert (done.code, "Hello, Ada!" in done.out) == (0, True)


@pytest.mark.req("VIEW-2", "VIEW-3", "POL-1")
def test_a_tool_that_the_binding_takes_away_is_no_tool_there(bound_shop: Shop) -> None:
    words = ("word_count", '{"text": "a b"}', "--binding")
    gone = bound_shop.typed("call", "ana", *words, "web:shop", "--json")
    assert (gone.code, gone.document["code"]) == (4, "tool_not_found")
    assert bound_shop.typed("call", "ana", *words, "mail:desk").code == 0
    explained = bound_shop.json("explain", "ana", *words, "web:shop")
    assert (explained["code"], explained["hidden"]["reason"]) == ("tool_not_found", "not_allowed")
    assert bound_shop.json("explain", "ana", *words[:2])["decision"] == "allow"


@pytest.mark.req("VIEW-7", "APR-2")
def test_the_card_shows_the_account_and_the_call_is_resumed_where_it_was_made(bound_shop: Shop) -> None:
    asked = bound_shop.asked(900, "--binding", "web:shop")
    shown = bound_shop.typed("approvals", "show", asked["approval_id"])
    assert [line.split() for line in shown.out.splitlines() if "web:shop" in line] == [
        ["binding", "web:shop"],
        ["account", "web:shop"],
    ]
    card = bound_shop.json("approvals", "show", asked["approval_id"])["card"]
    assert (card["binding"], card["account"]) == ("web:shop", "web:shop")
    assert bound_shop.typed("approvals", "approve", asked["approval_id"], "--as", "alice").code == 0
    assert bound_shop.typed("calls", "resume", asked["invocation_id"]).code == 0
    trail = [json.loads(line) for line in bound_shop.typed("audit", "export").out.splitlines()]
    (started,) = [each for each in trail if each.get("kind") == "tool_started"]
    assert started["body"]["account"] == "web:shop"


@pytest.mark.req("VIEW-7")
def test_check_reports_every_fault_of_the_gauntlet_at_once(bound_shop: Shop) -> None:
    assert bound_shop.typed("check").code == 0
    bound_shop.edit("ringfence.yaml", "desk: {agents: [ana]}", "desk: {agents: [ana, eve], credential: NO_SUCH_KEY}")
    bound_shop.edit("ringfence.yaml", "shop: {agents: [ana]}", "shop: {agents: [ops]}")
    came = bound_shop.typed("check")
    assert came.code == 1
    assert came.out.count("error: ") == 3
    for said in (
        "`eve` is not under `agents`",
        "`NO_SUCH_KEY` is not under `secrets`",
        "does not allow the agent `ana`",
    ):
        assert said in came.out


@pytest.mark.req("VIEW-7")
def test_check_ends_in_six_where_there_are_warnings_only(bound_shop: Shop) -> None:
    bound_shop.edit("ringfence.yaml", "desk: {agents: [ana]}}", "desk: {agents: [ana]}, idle: {agents: [ops]}}")
    bound_shop.edit("ringfence.yaml", "[greet, refund]", "[greet, refund, change_role]")
    came = bound_shop.typed("check")
    assert came.code == 6
    assert "no agent has a binding `mail:idle`" in came.out
    assert "`change_role` matches no tool that the agent may see" in came.out


@pytest.mark.req("POL-3")
def test_a_profile_is_told_by_explain_and_held_by_call(shop: Shop) -> None:
    shop.edit("ringfence.yaml", "    allowed_tools: [greet,", "    profile: careful\n    allowed_tools: [greet,")
    profiles = "profiles: {careful: {deny: [greet], requires_approval: [word_count]}}\n"
    shop.edit("ringfence.yaml", "policy:\n", f"{profiles}policy:\n")
    assert shop.json("explain", "ana", "word_count", '{"text": "x"}')["decision"] == "approve"
    assert shop.typed("call", "ana", "word_count", '{"text": "x"}').code == 3
    refused = shop.typed("call", "ana", "greet", '{"name": "Ada"}', "--json")
    assert (refused.code, refused.document["code"]) == (4, "policy_denied")


@pytest.mark.req("VIEW-6")
def test_every_agent_has_a_folder_of_its_own(shop: Shop) -> None:
    work = shop.folder / "state" / "work"
    assert {folder.name: folder.stat().st_mode & 0o777 for folder in work.iterdir()} == {"ana": 0o700, "ops": 0o700}
