"""`status`, `tools` and `explain` show what is, and why, without doing anything."""

from __future__ import annotations

import pytest

from tests.acceptance.cli.typed import Shop


@pytest.mark.req("VIEW-5")
def test_status_names_every_tool_and_for_each_hidden_one_the_reason(shop: Shop) -> None:
    status = shop.json("status", "ana")
    assert [tool["name"] for tool in status["tools"]] == ["draft_reply", "greet", "refund", "word_count"]
    assert {each["tool"]: each["reason"] for each in status["hidden"]} == {
        "change_role": "not_allowed",
        "exchange_rate": "not_allowed",
    }
    assert (status["agent"], status["owner"]) == ("ana", "carol")


@pytest.mark.req("VIEW-5")
def test_status_for_people_says_the_same(shop: Shop) -> None:
    came = shop.typed("status", "ana")
    assert came.code == 0
    assert "agent ana (owner carol): 4 tools, 2 hidden" in came.out
    assert "no pattern in `allowed_tools` matches it" in came.out


@pytest.mark.req("VIEW-5")
def test_status_without_an_agent_shows_every_agent(shop: Shop) -> None:
    assert [status["agent"] for status in shop.json("status")["agents"]] == ["ana", "ops"]


@pytest.mark.req("VIEW-4", "VIEW-5")
def test_status_shows_what_an_agent_lacks_for_a_tool(shop: Shop) -> None:
    shop.edit("ringfence.yaml", "    network: {allow: [api.frankfurter.dev]}\n", "")
    status = shop.json("status", "ops")
    [hidden] = status["hidden"]
    message = "hosts `api.frankfurter.dev` not in the agent's `network.allow`"
    assert hidden == {"tool": "exchange_rate", "reason": "capability_misfit", "message": message}
    assert status["errors"] == [{"tool": "exchange_rate", "capability": "network", "message": message}]


@pytest.mark.req("VIEW-5", "OPS-8")
def test_status_shows_every_freeze_that_stops_the_agent_and_why(shop: Shop) -> None:
    assert shop.json("status", "ana")["freezes"] == []
    for words in (["--agent", "ana"], ["--tool", "refund"], ["--agent", "ops"], ["--tool", "change_role"], []):
        stopped = " ".join(words) or "everything"
        assert shop.typed("freeze", *words, "--as", "bob", "--because", f"stop {stopped}").code == 0
    freezes = shop.json("status", "ana")["freezes"]
    assert [(each["agent"], each["tool"], each["by"], each["because"]) for each in freezes] == [
        ("ana", None, "bob", "stop --agent ana"),
        (None, "refund", "bob", "stop --tool refund"),
        (None, None, "bob", "stop everything"),
    ]
    came = shop.typed("status", "ana").out
    assert [line.split("  ")[0] for line in came.splitlines() if "bob" in line] == [
        "agent `ana`",
        "tool `refund`",
        "everything",
    ]
    assert "stop --tool refund" in came


@pytest.mark.req("VIEW-5", "APR-8")
def test_status_shows_the_open_standing_grants_of_the_agent_and_why(shop: Shop) -> None:
    give = ["grants", "give", "ana", "refund", "--uses", "3", "--expires", "8h", "--as", "bob"]
    kept = shop.json(*give, "--because", "small ones are routine", "--when", '{"args.amount_cents": {"lte": 1000}}')
    ended = shop.json(*give, "--because", "a mistake")
    assert shop.typed("grants", "revoke", ended["id"], "--as", "bob", "--because", "it was").code == 0
    (grant,) = shop.json("status", "ana")["grants"]
    shown = {name: grant[name] for name in ("id", "tool", "uses", "max_uses", "signed_by", "because")}
    assert shown == {
        "id": kept["id"],
        "tool": "refund",
        "uses": 0,
        "max_uses": 3,
        "signed_by": ["bob"],
        "because": "small ones are routine",
    }
    assert shop.json("status", "ops")["grants"] == []
    came = shop.typed("status", "ana").out
    assert "0 of 3" in came
    assert "routine" in came


@pytest.mark.req("OPS-1")
def test_an_agent_that_is_not_in_the_file_is_misuse(shop: Shop) -> None:
    came = shop.typed("status", "nobody")
    assert came.code == 2
    assert came.err.startswith("error[misuse]: there is no agent `nobody`\nremedy: ")


@pytest.mark.req("REG-1", "CON-4", "CON-5", "CON-10")
def test_tools_lists_class_egress_trust_and_fingerprint(shop: Shop) -> None:
    tools = {tool["name"]: tool for tool in shop.json("tools")["tools"]}
    assert {name: (tool["safety"], tool["egress"], tool["floor"]) for name, tool in tools.items()} == {
        "change_role": ("privileged", "none", "approve_twice"),
        "draft_reply": ("write", "none", "allow"),
        "exchange_rate": ("network", "read_only", "allow"),
        "greet": ("read", "none", "allow"),
        "refund": ("financial", "none", "approve"),
        "word_count": ("read", "none", "allow"),
    }
    assert {tool["trust"] for tool in tools.values()} == {"pinned"}
    assert all(tool["fingerprint"].startswith("sha256:") for tool in tools.values())
    assert "change_role" in shop.typed("tools").out


@pytest.mark.req("CON-1", "CON-10")
def test_a_tool_is_shown_with_the_whole_contract_that_its_fingerprint_names(shop: Shop) -> None:
    shown = shop.json("tools", "show", "refund")
    assert shown["contract"]["description"] == "Refund a customer's order, in part or in full."
    assert shown["contract"]["idempotency"] == "required"
    assert sorted(shown["contract"]["input_schema"]["properties"]) == ["amount_cents", "order"]
    assert shown["fingerprint"] in shop.typed("tools", "show", "refund").out


@pytest.mark.req("OPS-1")
def test_showing_a_tool_that_is_not_there_is_misuse(shop: Shop) -> None:
    came = shop.typed("tools", "show", "refnd")
    assert (came.code, came.err.splitlines()[0]) == (2, "error[misuse]: there is no tool `refnd`")


@pytest.mark.req("POL-1", "CON-4")
def test_explain_lists_every_reason_and_the_strictest_decides(shop: Shop) -> None:
    explained = shop.json("explain", "ana", "refund", '{"order": "A-1001", "amount_cents": 60000}')
    assert (explained["decision"], explained["votes_needed"]) == ("approve_twice", 2)
    assert [(reason["kind"], reason["decision"]) for reason in explained["reasons"]] == [
        ("class_floor", "approve"),
        ("egress_floor", "allow"),
        ("rule", "approve_twice"),
    ]


@pytest.mark.req("POL-1", "CON-14")
def test_explain_shows_what_the_call_would_be_granted(shop: Shop) -> None:
    explained = shop.json("explain", "ops", "exchange_rate", '{"currency": "USD"}')
    assert explained["grant"] == [
        {"kind": "network", "hosts": ["api.frankfurter.dev"], "cidrs": [], "way": "inspected"}
    ]


@pytest.mark.req("POL-1")
def test_explain_for_people_has_the_decision_the_reasons_and_the_grant(shop: Shop) -> None:
    came = shop.typed("explain", "ana", "refund", '{"order": "A-1001", "amount_cents": 60000}')
    assert came.code == 0
    assert came.out.startswith("approve_twice for ana calling refund")
    assert "refunds over 500.00 are looked at by two people" in came.out
    assert "granted: nothing" in came.out


@pytest.mark.req("POL-1")
def test_explain_runs_asks_and_records_nothing(shop: Shop) -> None:
    before = shop.typed("audit", "export").out
    shop.typed("explain", "ana", "refund", '{"order": "A-1001", "amount_cents": 60000}')
    shop.typed("explain", "ana", "greet", '{"name": "Ada"}')
    assert shop.typed("audit", "export").out == before
    assert shop.json("approvals", "list") == {"approvals": []}


@pytest.mark.req("POL-1", "VIEW-5")
def test_explain_tells_an_operator_why_a_tool_is_hidden(shop: Shop) -> None:
    explained = shop.json("explain", "ana", "change_role", "{}")
    assert (explained["decision"], explained["code"]) == ("deny", "tool_not_found")
    assert explained["hidden"]["reason"] == "not_allowed"
