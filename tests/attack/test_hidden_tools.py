"""Attack 141: a hidden tool called by its name, guessed, in another case, with spaces. It does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.spine.household import AGENT, assert_completed, assert_refused, assert_waiting, config, open_house
from tests.attack.test_arguments import SlyText

pytestmark = pytest.mark.req("VIEW-2")

GUESSES = [
    "pay", "PAY", "Pay", " pay", "pay ", "pay\n", "pay\0", "ｐａｙ", "рay", "pay\u200b", "./pay", "ana.pay", "ben:pay",
    "pay()", "*", "p*", "", "echo;pay", "echo,pay", "pay" * 1_000, "\ud800pay", "__class__", "visible",
]  # fmt: skip


@pytest.mark.parametrize("name", GUESSES)
async def test_141_every_spelling_of_a_hidden_tool_is_no_tool(tmp_path: Path, name: str) -> None:
    agents = {"ana": {**AGENT, "allowed_tools": ["echo"]}, "ben": AGENT}
    async with open_house(config(tmp_path, agents=agents)) as house:
        assert_waiting(await house.call("pay", {"to": "x", "amount": 1}, agent="ben"))  # the control: ben can see it
        outcome = assert_refused(await house.call(name, {"to": "x", "amount": 1}), "tool_not_found")
        never = assert_refused(await house.call("never_was", {"to": "x", "amount": 1}), "tool_not_found")
        assert house.ran == []
    assert {**outcome.as_dict(), "invocation_id": ""} == {**never.as_dict(), "invocation_id": ""}


async def test_141_a_name_that_claims_to_equal_another_is_read_for_what_it_spells(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_refused(await house.call(SlyText("nothing"), {"to": "x", "amount": 1}), "tool_not_found")
        assert_completed(await house.call(SlyText("echo"), {"text": "x"}))
    assert house.ran == ["echo"]


async def test_141_a_refused_name_is_kept_short_and_printable(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        assert_refused(await house.call("\x1b]0;evil\x07" + "x" * 100_000, {}), "tool_not_found")
        (proposed,) = await house.events("tool_proposed")
    assert len(proposed["tool"]) < 400
    assert proposed["tool"].isprintable()
