"""Amounts made to slip past a cap, many approvals under one, and another agent's key."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.spine.household import AGENT, assert_completed, config, open_house

CAPS: list[dict[str, Any]] = [
    {"tools": "measure", "most": 10, "per": "hour", "amount": "args.value"},
    {"tools": "echo", "most": 10, "per": "hour", "amount": "args.text"},
    {"tools": "pay", "most": 10, "per": "hour", "amount": "args.amount", "unit": {"args.to": "EUR"}},
]
# What a model could send, as JSON, and why somebody would.
HOSTILE = (
    ("measure", '{"value": -1000}', "what is below nothing makes room"),
    ("measure", '{"value": 1e999}', "endless"),
    ("measure", '{"value": 1e308}', "nearly endless"),
    ("measure", '{"value": "1"}', "a text where a number is due"),
    ("measure", '{"value": true}', "a word that counts as one"),
    ("measure", '{"value": null}', "nothing at all"),
    ("echo", '{"text": "-5"}', "a text below nothing"),
    ("echo", '{"text": "1e-9"}', "a text that reads small"),
    ("echo", '{"text": "0.5 "}', "a text with something after it"),
    ("echo", '{"text": "\\uff11\\uff10\\uff10"}', "digits of another script"),
    ("echo", '{"text": "1_0"}', "digits as a program writes them"),
    ("echo", '{"text": "Infinity"}', "a word for endless"),
    ("pay", '{"to": "USD", "amount": 1}', "another currency"),
    ("pay", '{"to": "eur", "amount": 1}', "nearly the same currency"),
    ("pay", '{"to": "EUR", "amount": -1}', "money back"),
    ("pay", '{"to": "EUR", "amount": 11}', "more than the cap at once"),
)


@pytest.mark.req("POL-2")
async def test_161_no_amount_slips_past_a_cap(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"spend_caps": CAPS})) as house:
        for tool, said, why in HOSTILE:
            outcome = await house.call(tool, json.loads(said))
            assert outcome.status == "refused", (why, outcome)
        assert house.ran == []
        assert {cap.taken for cap in (await house.runtime.status("ana")).caps} == {0}


@pytest.mark.req("POL-2", "APR-3")
async def test_161_twenty_approvals_voted_at_once_hold_to_one_cap(tmp_path: Path) -> None:
    async with open_house(config(tmp_path, agent={"spend_caps": CAPS})) as house:
        sessions = [house.session() for _ in range(20)]
        asked = [await one.call("pay", {"to": "EUR", "amount": 3}) for one in sessions]
        await asyncio.gather(*(house.vote(each, "alice") for each in asked))
        ended = await asyncio.gather(
            *(one.resume(each.invocation_id) for one, each in zip(sessions, asked, strict=True))
        )
        assert Counter(each.status for each in ended) == {"completed": 3, "refused": 17}
        assert house.ran == ["pay"] * 3


@pytest.mark.req("IDM-1", "VIEW-6")
async def test_169_another_agents_key_gives_nothing_of_its_result(tmp_path: Path) -> None:
    settings = config(tmp_path)
    settings["agents"] = {name: {**AGENT, "workspace": str(tmp_path / name)} for name in ("ana", "ben")}
    async with open_house(settings) as house:
        mine = assert_completed(await house.session().call("draft", {"title": "x"}, idempotency_key="k"))
        theirs = assert_completed(await house.session(agent="ben").call("draft", {"title": "x"}, idempotency_key="k"))
        other = assert_completed(await house.session(agent="ben").call("draft", {"title": "y"}, idempotency_key="l"))
        assert len({mine.invocation_id, theirs.invocation_id, other.invocation_id}) == 3
        assert (house.ran, len({job.idempotency_key for job in house.sandbox.jobs})) == (["draft"] * 3, 3)
