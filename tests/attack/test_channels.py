"""Attacks 141, 142 and 157, on channels: another binding's tool, another's account or recipient, a file that says both.

Each has its control: the same words, where they are allowed, are done.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import load_config
from ringfence.errors import ConfigInvalid, Misuse
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
    reply,
    scripted,
)

TOOLS = (*toolbox.ALL, *toolbox_channels.ALL)
TWO = ("chat:public", "chat:staff")
GUESSES = [
    "pay",
    "PAY",
    " pay",
    "pay\n",
    "ｐａｙ",
    "рay",
    "chat:staff.pay",
    "chat:staff:pay",
    "staff__pay",
    "pay@chat:staff",
]


def two_channels(tmp_path: Path, **agent: Any) -> dict[str, Any]:
    """`ana` on two channels: the public one sees `echo` and `send_mail` alone."""
    public = bound(
        "chat:public", allowed_tools=["echo", "send_mail"], outbound_allowlist={"email": ["*@customers.example"]}
    )
    places = {"bindings": [*public["bindings"], *bound("chat:staff")["bindings"]]}
    everybody = {"outbound_allowlist": {"email": ["*@customers.example", "*@staff.example"]}}
    return config(tmp_path, agent={**everybody, **places, **agent}, accounts=accounts(*TWO))


def opened(settings: dict[str, Any]) -> Any:
    replies = {each.name: reply("sent") for each in toolbox_channels.ALL}
    return open_house(settings, tools=TOOLS, sandbox=scripted(replies))


@pytest.mark.req("VIEW-2", "VIEW-3")
@pytest.mark.parametrize("name", GUESSES)
async def test_141_a_tool_of_another_channel_is_no_tool_in_any_spelling(tmp_path: Path, name: str) -> None:
    async with opened(two_channels(tmp_path)) as house:
        assert_waiting(await house.call("pay", {"to": "x", "amount": 1}, binding="chat:staff"))
        tried = assert_refused(
            await house.call(name, {"to": "x", "amount": 1}, binding="chat:public"), "tool_not_found"
        )
        never = assert_refused(
            await house.call("never_was", {"to": "x", "amount": 1}, binding="chat:public"), "tool_not_found"
        )
        assert house.ran == []
    assert {**tried.as_dict(), "invocation_id": ""} == {**never.as_dict(), "invocation_id": ""}


@pytest.mark.req("VIEW-3", "VIEW-7", "CON-3")
@pytest.mark.parametrize("word", ["binding", "channel", "instance", "account", "credential", "_binding", "x-binding"])
async def test_142_a_binding_or_account_in_the_arguments_is_no_argument(tmp_path: Path, word: str) -> None:
    async with opened(two_channels(tmp_path)) as house:
        assert_refused(
            await house.call("echo", {"text": "x", word: "chat:staff"}, binding="chat:public"), "input_invalid"
        )
        assert_completed(await house.call("echo", {"text": f"{word}: chat:staff"}, binding="chat:public"))
        (job,) = house.sandbox.jobs
    assert job.account is not None
    assert job.account.name == "chat:public"


@pytest.mark.req("VIEW-3")
@pytest.mark.parametrize(
    "name", ["chat:*", "*", "chat:public,chat:staff", "CHAT:STAFF", "chat:staff\0", "chat:ｓtaff", ":staff", ""]
)  # fmt: skip
async def test_142_a_session_opens_on_no_binding_but_the_agents_own(tmp_path: Path, name: str) -> None:
    async with opened(two_channels(tmp_path)) as house:
        with pytest.raises(Misuse):
            house.session(binding=name)
        assert_completed(await house.call("echo", {"text": "x"}, binding="chat:staff"))


@pytest.mark.req("VIEW-3", "VIEW-7")
async def test_142_another_agents_binding_is_not_ones_own(tmp_path: Path) -> None:
    settings = config(tmp_path, agents={"ana": AGENT, "ben": {**AGENT, **bound("chat:staff")}})
    settings["accounts"] = accounts("chat:staff", agents=["ben"])
    async with opened(settings) as house:
        with pytest.raises(Misuse, match="has no binding"):
            house.session(agent="ana", binding="chat:staff")
        assert_completed(await house.call("echo", {"text": "x"}, agent="ben", binding="chat:staff"))


@pytest.mark.req("POL-5", "VIEW-3")
@pytest.mark.parametrize(
    "to",
    [
        "eve@staff.example", "x@customers.example,eve@staff.example", "eve%staff.example@customers.example",
        '"eve@staff.example"@customers.example', "eve@staff.example\u202e@customers.example",
        "eve@staff.example\x00@customers.example", "eve@customers.example\n\neve@staff.example", "EVE@STAFF.EXAMPLE",
    ],
)  # fmt: skip
async def test_142_a_recipient_of_another_channel_is_reached_by_no_trick(tmp_path: Path, to: str) -> None:
    async with opened(two_channels(tmp_path)) as house:
        assert_completed(await house.call("send_mail", {"to": "eve@staff.example"}, binding="chat:staff"))
        assert_completed(await house.call("send_mail", {"to": "x@customers.example"}, binding="chat:public"))
        assert_refused(await house.call("send_mail", {"to": to}, binding="chat:public"), "recipient_not_allowed")
        assert house.ran == ["send_mail"] * 2


@pytest.mark.req("VIEW-3")
async def test_142_a_session_does_not_change_its_channel(tmp_path: Path) -> None:
    async with opened(two_channels(tmp_path)) as house:
        assert_completed(await house.call("echo", {"text": "x"}, id="s1", binding="chat:public"))
        with pytest.raises(Misuse, match="belongs to another"):
            await house.call("echo", {"text": "x"}, id="s1", binding="chat:staff")
        assert_completed(await house.call("echo", {"text": "x"}, id="s1", binding="chat:public"))


FILE = """version: 1
secrets: {CHAT_KEY: {file: chat.key}}
accounts: {chat: {one: {agents: [ana], credential: CHAT_KEY}}}
agents:
  ana: {allowed_tools: [echo], bindings: [{channel: chat, instance: one}]}
"""


@pytest.mark.req("VIEW-3", "VIEW-7")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "instance: one}]",
            "instance: one}, {channel: chat, instance: one, allowed_tools: [pay]}]",
            "is also binding 0",
        ),
        ("instance: one}]", "instance: one, instance: two}]", "a second time"),
        ("instance: one}]", "instance: one, account: chat:boss}]", "unknown key `account`"),
        ("instance: one}]", "instance: 'one:two'}]", "is not an instance"),
        ("instance: one}]", "instance: '*'}]", "is not an instance"),
        ("agents: [ana]", "agents: ['*']", "is not a name"),
        ("agents: [ana]", "agents: [ben]", "does not allow the agent `ana`"),
        ("bindings: [{", "bindings: [&a {", "an anchor"),
        ("{file: chat.key}", "{file: ../chat.key}", "climbs"),
    ],
)
def test_157_a_file_that_would_bind_twice_or_as_somebody_else_is_not_loaded(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    file, key = tmp_path / "ringfence.yaml", tmp_path / "chat.key"
    key.write_text("0123456789")
    key.chmod(0o600)
    file.write_text(FILE)
    assert load_config(file).agents["ana"].bindings[0].name == "chat:one"
    file.write_text(FILE.replace(old, new))
    with pytest.raises(ConfigInvalid) as invalid:
        load_config(file)
    assert said in invalid.value.message


@pytest.mark.req("VIEW-7")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o666, 0o777])
def test_157_a_credential_that_others_can_open_is_not_loaded(tmp_path: Path, mode: int) -> None:
    file, key = tmp_path / "ringfence.yaml", tmp_path / "chat.key"
    file.write_text(FILE)
    key.write_text("0123456789")
    key.chmod(0o400)
    load_config(file)
    key.chmod(mode)
    with pytest.raises(ConfigInvalid, match="open to others"):
        load_config(file)
