"""Whom a call may reach: one listed address, wherever it stands in the arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.spine import toolbox_channels
from tests.acceptance.spine.household import (
    accounts,
    assert_completed,
    assert_refused,
    bound,
    config,
    open_house,
    reply,
    scripted,
)

pytestmark = pytest.mark.req("POL-5")

LISTED = {"outbound_allowlist": {"email": ["*@customers.example", "ada@elsewhere.example"]}}
GOOD = "ada@customers.example"
REPLIES = {each.name: reply("sent") for each in toolbox_channels.ALL}


def opened(settings: dict[str, Any]) -> Any:
    return open_house(settings, tools=toolbox_channels.ALL, sandbox=scripted(REPLIES))


@pytest.mark.parametrize("to", [GOOD, "ADA@Customers.Example", "ada@elsewhere.example", "Ada@ELSEWHERE.example"])
async def test_a_listed_recipient_is_written_to(tmp_path: Path, to: str) -> None:
    async with opened(config(tmp_path, agent=LISTED)) as house:
        assert_completed(await house.call("send_mail", {"to": to}))


@pytest.mark.parametrize(
    "to",
    [
        "eve@evil.example", "eve@elsewhere.example", "eve@customers.example.evil.example", "eve@evilcustomers.example",
        "eve@sub.customers.example", "eve@evil.example@customers.example", f"{GOOD},eve@evil.example", f"Ada <{GOOD}>",
        "eve@evil.example <x@customers.example>", f"{GOOD} ", f"{GOOD}\nBcc: eve@evil.example", f"\u202e{GOOD}", "*",
        "",
    ],
)  # fmt: skip
async def test_any_other_is_refused_and_nothing_runs(tmp_path: Path, to: str) -> None:
    async with opened(config(tmp_path, agent=LISTED)) as house:
        outcome = assert_refused(await house.call("send_mail", {"to": to}), "recipient_not_allowed")
        assert house.ran == []
    assert [reason.kind for reason in outcome.reasons if reason.decision.word == "deny"] == ["recipient"]


@pytest.mark.parametrize("agent", [{}, {"outbound_allowlist": {}}, {"outbound_allowlist": {"email": []}}])
async def test_a_channel_without_a_list_has_no_recipients(tmp_path: Path, agent: dict[str, Any]) -> None:
    async with opened(config(tmp_path, agent=agent)) as house:
        assert_refused(await house.call("send_mail", {"to": GOOD}), "recipient_not_allowed")


async def test_one_channels_list_does_not_serve_another(tmp_path: Path) -> None:
    async with opened(config(tmp_path, agent={"outbound_allowlist": {"email": ["*"], "sms": ["+49*"]}})) as house:
        assert_completed(await house.call("send_text", {"number": "+498912345678"}))
        assert_refused(await house.call("send_text", {"number": "+15551234567"}), "recipient_not_allowed")
        assert_refused(await house.call("send_text", {"number": GOOD}), "recipient_not_allowed")


async def test_a_recipient_deep_in_the_arguments_is_found(tmp_path: Path) -> None:
    async with opened(config(tmp_path, agent=LISTED)) as house:
        assert_completed(await house.call("send_letters", {"letters": [{"to": GOOD, "copies": [GOOD]}]}))
        for letters in (
            [{"to": "eve@evil.example"}],
            [{"to": GOOD}, {"to": GOOD, "copies": [GOOD, "eve@evil.example"]}],
        ):
            outcome = assert_refused(await house.call("send_letters", {"letters": letters}), "recipient_not_allowed")
        assert "`letters.1.copies.1`" in outcome.message
        assert house.ran == ["send_letters"]


async def test_a_recipient_that_was_left_out_is_the_contracts_default(tmp_path: Path) -> None:
    async with opened(config(tmp_path, agent=LISTED)) as house:
        assert_refused(await house.call("report", {"text": "x"}), "recipient_not_allowed")
        assert_completed(await house.call("report", {"text": "x", "to": GOOD}))


@pytest.mark.req("VIEW-3")
async def test_a_binding_narrows_the_lists_and_never_widens_them(tmp_path: Path) -> None:
    narrowed = bound("chat:one", outbound_allowlist={"email": ["ada@*", "eve@evil.example"]})
    silent = bound("chat:two", outbound_allowlist={"sms": ["*"]})
    places = {"bindings": [*narrowed["bindings"], *silent["bindings"]]}
    settings = config(tmp_path, agent={**LISTED, **places}, accounts=accounts("chat:one", "chat:two"))
    async with opened(settings) as house:
        assert_completed(await house.call("send_mail", {"to": GOOD}, binding="chat:one"))
        for to, binding in (
            ("ben@customers.example", "chat:one"), ("eve@evil.example", "chat:one"), (GOOD, "chat:two"),
        ):  # fmt: skip
            assert_refused(await house.call("send_mail", {"to": to}, binding=binding), "recipient_not_allowed")
        assert_refused(
            await house.call("send_text", {"number": "+498912345678"}, binding="chat:two"), "recipient_not_allowed"
        )


@pytest.mark.req("POL-1")
async def test_explaining_names_the_argument_and_the_channel(tmp_path: Path) -> None:
    async with opened(config(tmp_path, agent=LISTED)) as house:
        explained = await house.runtime.explain("ana", "send_mail", {"to": "eve@evil.example"})
    assert (explained.code, explained.decision.word) == ("recipient_not_allowed", "deny")
    assert explained.reasons[-1].because == "`to`: the recipient is not listed for `email`"


@pytest.mark.req("APR-2")
async def test_a_recipient_that_was_struck_off_meanwhile_is_refused_on_resume(tmp_path: Path) -> None:
    agent = {**LISTED, "profile": "asks"}
    profiles = {"asks": {"requires_approval": ["*"]}}
    async with opened(config(tmp_path, agent=agent, profiles=profiles)) as house:
        asked = await house.call("send_mail", {"to": GOOD}, id="s1")
        await house.vote(asked, "alice")
    agent = {"outbound_allowlist": {"email": ["nobody@customers.example"]}, "profile": "asks"}
    async with opened(config(tmp_path, agent=agent, profiles=profiles)) as house:
        assert_refused(await house.session(id="s1").resume(asked.invocation_id), "recipient_not_allowed")
        assert house.ran == []
