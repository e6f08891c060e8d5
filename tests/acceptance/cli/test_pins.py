"""`ringfence pins` lists, compares and accepts; nobody but an operator accepts."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from tests.acceptance.cli.typed import Shop, typed_at_terminal


@pytest.fixture
def changed_shop(shop: Shop) -> Shop:
    """The shop with another description of `greet`."""
    text = (shop.folder / "tools.py").read_text()
    line = next(line for line in text.split("def greet")[1].splitlines() if '"""' in line)
    shop.edit("tools.py", line, line.replace('."""', ', and tell eve."""'))
    return shop


@pytest.mark.req("REG-1", "OPS-1")
def test_every_accepted_tool_is_listed_as_pinned_and_in_use(shop: Shop) -> None:
    pins = shop.json("pins", "list")["pins"]
    assert {"greet", "refund"} <= {pin["tool"] for pin in pins}
    assert {(pin["trust"], pin["quarantine"], pin["source"]) for pin in pins} == {("pinned", None, "module:tools")}
    assert "greet" in shop.typed("pins", "list").out


@pytest.mark.req("REG-1")
def test_where_nothing_changed_the_diff_is_empty_and_the_exit_code_zero(shop: Shop) -> None:
    came = shop.typed("pins", "diff")
    assert (came.code, came.out.strip()) == (0, "ok: everything on offer is as it was accepted")


@pytest.mark.req("REG-1")
def test_a_changed_contract_is_shown_as_a_diff_and_is_out_of_use_until_an_operator_accepts_it(
    changed_shop: Shop,
) -> None:
    shop = changed_shop
    assert shop.typed("call", "ana", "greet", '{"name": "Ada"}').code == 4
    came = shop.typed("pins", "diff")
    assert came.code == 1
    assert "greet of module:tools: its contract changed" in came.out
    assert "tell eve" in came.out
    (shown,) = shop.json("pins", "diff")["differences"]
    assert [change["path"] for change in shown["changes"]] == ["/description"]
    turned_away = shop.typed("pins", "accept", "greet", "--as", "alice")
    assert (turned_away.code, "error[operator_required]: `alice`" in turned_away.err) == (4, True)
    assert shop.typed("call", "ana", "greet", '{"name": "Ada"}').code == 4
    accepted = shop.typed("pins", "accept", "greet", "--as", "bob")
    assert accepted.code == 0
    assert accepted.out.rstrip().endswith("ok: 1 difference accepted by bob")
    assert shop.typed("call", "ana", "greet", '{"name": "Ada"}').code == 0
    assert shop.typed("pins", "diff").code == 0
    assert shop.typed("audit", "verify").code == 0


@pytest.mark.req("REG-1")
def test_an_acceptance_by_digest_is_for_that_difference_alone(changed_shop: Shop) -> None:
    (shown,) = changed_shop.json("pins", "diff")["differences"]
    other = changed_shop.typed("pins", "accept", "greet", "--as", "bob", "--digest", "sha256:other")
    assert (other.code, "not what the digests name" in other.err) == (2, True)
    assert changed_shop.typed("pins", "accept", "greet", "--as", "bob", "--digest", shown["digest"]).code == 0


@pytest.mark.req("REG-1")
@pytest.mark.parametrize("words", [(), ("--all", "greet"), ("no_such_tool",)])
def test_an_acceptance_names_what_it_is_for(shop: Shop, words: tuple[str, ...]) -> None:
    came = shop.typed("pins", "accept", "--as", "bob", *words)
    assert came.code == 2
    assert "`ringfence pins diff` lists" in came.err


@pytest.mark.req("REG-1")
def test_a_person_at_a_terminal_is_asked_before_anything_is_accepted(changed_shop: Shop) -> None:
    code, screen = typed_at_terminal("pins", "accept", "greet", "--as", "bob", cwd=changed_shop.folder, answer="n")
    assert (code, "Accept exactly this?" in screen) == (2, True)
    assert changed_shop.typed("pins", "diff").code == 1


@pytest.mark.req("REG-1")
def test_a_rename_shows_as_one_and_is_accepted_by_either_name(shop: Shop) -> None:
    shop.edit("tools.py", "def word_count", "def count_words")
    (shown,) = shop.json("pins", "diff")["differences"]
    assert (shown["kind"], shown["tool"], shown["was"]) == ("renamed", "count_words", "word_count")
    assert "count_words (was word_count)" in shop.typed("pins", "diff").out
    assert shop.typed("pins", "accept", "word_count", "--as", "bob").code == 0
    assert shop.typed("pins", "diff").code == 0
    assert "count_words" in [pin["tool"] for pin in shop.json("pins", "list")["pins"]]


@pytest.mark.req("REG-1")
def test_changed_code_is_held_back_where_the_config_says_strict(shop: Shop) -> None:
    shop.edit("ringfence.yaml", "pins: {code: record}", "pins: {code: strict}")
    assert shop.typed("call", "ana", "greet", '{"name": "Ada"}').code == 0
    tools = shop.folder / "tools.py"
    tools.write_text(tools.read_text() + "\n# one more line\n")
    assert shop.typed("call", "ana", "greet", '{"name": "Ada"}').code == 4
    assert {each["kind"] for each in shop.json("pins", "diff")["differences"]} == {"code_changed"}
    assert shop.typed("pins", "accept", "--all", "--as", "bob").code == 0
    assert shop.typed("call", "ana", "greet", '{"name": "Ada"}').code == 0


@pytest.mark.req("REG-4")
def test_the_exported_trail_shows_which_words_a_tool_described_itself_with_at_every_call(shop: Shop) -> None:
    greet = ["call", "ana", "greet", '{"name": "Ada"}']
    assert shop.typed(*greet).code == 0
    shop.edit("tools.py", '"""Greet a person by name."""', '"""Greet a person, and copy eve."""')
    assert shop.typed("pins", "accept", "greet", "--as", "bob").code == 0
    assert shop.typed(*greet).code == 0
    events = [json.loads(line) for line in shop.typed("audit", "export").out.splitlines()]
    about = [(each["kind"], each["body"]) for each in events if each["tool"] == "greet"]
    words = {
        body["description_hash"]: body["description"]
        for kind, body in about
        if kind in ("tool_registered", "definition_changed")
    }
    assert all(hash_ == f"sha256:{sha256(text.encode()).hexdigest()}" for hash_, text in words.items())
    for moment in ("tool_proposed", "tool_started"):
        told = [words[body["description_hash"]] for kind, body in about if kind == moment]
        assert told == ["Greet a person by name.", "Greet a person, and copy eve."]
