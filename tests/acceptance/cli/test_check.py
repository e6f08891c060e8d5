"""`ringfence check` reports everything at once and tells scripts by its exit code."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.cli.typed import Shop

pytestmark = pytest.mark.req("OPS-1")


@pytest.mark.req("VIEW-1")
def test_every_mistake_in_the_file_is_reported_with_its_line_and_the_nearest_key(new_shop: Shop) -> None:
    new_shop.edit("ringfence.yaml", "    owner: carol                         #", "    ownr: carol #")
    new_shop.edit("ringfence.yaml", "kind: local", "kind: locl")
    came = new_shop.typed("check", "--json")
    assert came.code == 1
    unknown, wrong = came.document["errors"]
    assert unknown.startswith("ringfence.yaml:")
    assert "did you mean `owner`?" in unknown
    assert "`locl`" in wrong


@pytest.mark.req("POL-2")
def test_a_rule_whose_own_example_says_otherwise_is_an_error(shop: Shop) -> None:
    shop.edit("ringfence.yaml", "amount_cents: 50001", "amount_cents: 4")
    came = shop.typed("check")
    assert came.code == 1
    assert "error: ringfence.yaml:" in came.out
    assert "does not hold for an example under `holds`" in came.out


@pytest.mark.req("VIEW-4")
def test_a_tool_that_an_agent_was_given_and_that_does_not_fit_is_a_warning(shop: Shop) -> None:
    shop.edit("ringfence.yaml", "[greet, word_count", "[greet, exchange_rate, word_count")
    came = shop.typed("check", "--json")
    assert came.code == 6
    [warning] = came.document["warnings"]
    assert "tool `exchange_rate` is hidden: hosts `api.frankfurter.dev` not in the agent's `network.allow`" in warning


def test_a_pattern_that_matches_nothing_is_a_warning_with_its_line(shop: Shop) -> None:
    shop.edit("ringfence.yaml", "[greet, word_count", "[greet, wordcount, word_count")
    came = shop.typed("check", "--json")
    assert came.code == 6
    [warning] = came.document["warnings"]
    assert warning.startswith("ringfence.yaml:")
    assert warning.endswith("`wordcount` matches no registered tool")


@pytest.mark.req("CON-2")
def test_a_tool_that_says_too_little_is_an_error(shop: Shop) -> None:
    shop.edit("tools.py", "def word_count(text: str)", "def word_count(text)")
    came = shop.typed("check", "--json")
    assert came.code == 1
    [error] = came.document["errors"]
    assert "word_count" in error
    assert "text" in error


@pytest.mark.req("CON-13")
def test_a_module_is_never_run_outside_the_jail(shop: Shop) -> None:
    mark = shop.folder / "was_here"
    with (shop.folder / "tools.py").open("a") as module:
        module.write(f"\ntry:\n    open({str(mark)!r}, 'w').close()\nexcept OSError:\n    pass\n")
    assert shop.typed("check").code in (0, 6)
    assert not mark.exists()


@pytest.mark.req("REG-1")
@pytest.mark.parametrize("person", ["alice", "nobody"])
def test_only_an_operator_can_accept_tools(person: str, new_shop: Shop) -> None:
    came = new_shop.typed("check", "--accept", "--as", person)
    assert came.code == 2
    assert f"`{person}` does not have the role `operator`" in came.err
    assert {tool["trust"] for tool in new_shop.json("tools")["tools"]} == {"imported"}


@pytest.mark.req("REG-1")
def test_accepting_without_a_name_is_accepting_by_login_name(new_shop: Shop) -> None:
    came = new_shop.typed("check", "--accept")
    assert came.code == 2
    assert "does not have the role `operator`" in came.err


@pytest.mark.req("REG-1", "VIEW-5")
def test_a_changed_contract_is_out_of_use_until_an_operator_accepts_it(shop: Shop) -> None:
    shop.edit("tools.py", '"""Greet a person by name."""', '"""Greet a person by name, warmly."""')
    came = shop.typed("check", "--json")
    assert came.code == 6
    assert any("`greet`" in warning and "out of use" in warning for warning in came.document["warnings"])
    refused = shop.typed("call", "ana", "greet", json.dumps({"name": "Ada"}), "--json")
    assert (refused.code, refused.document["code"]) == (4, "tool_not_found")
    hidden = {each["tool"]: each["reason"] for each in shop.json("status", "ana")["hidden"]}
    assert hidden["greet"] == "definition_changed"


@pytest.mark.req("REG-1")
def test_an_operator_who_accepts_a_changed_contract_puts_it_back_into_use(shop: Shop) -> None:
    shop.edit("tools.py", '"""Greet a person by name."""', '"""Greet a person by name, warmly."""')
    assert shop.typed("check", "--accept", "--as", "bob").code == 0
    assert shop.typed("call", "ana", "greet", json.dumps({"name": "Ada"})).code == 0
