"""Two agents, two accounts, one tool: each signs in as its own binding says, and nothing in a call can change that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.errors import ConfigInvalid
from ringfence.runtime import Completed, Outcome, Refused, Runtime
from tests.acceptance.secrets.far import Desk, a_desk, private_file

pytestmark = pytest.mark.req("VIEW-7", "SEC-2")

VALUES = {"CHAT_SALES": "sales-walnut-88-harbour", "CHAT_BOSS": "boss-cobalt-17-meadow"}
OTHERS = {"MAIL_KEY": "mail-linden-30-quarry"}
TOOLS = '''
import requests

from ringfence import Context, Network, Secrets, tool

NEEDS = [Network("{here}"), Secrets("CHAT_TOKEN", hosts=["{here}"])]


@tool(safety="read", needs=NEEDS)
def read_room(ctx: Context, room: str, account: str = "") -> str:
    """Read a room with the client of the context."""
    headers = {{"Authorization": ctx.secrets["CHAT_TOKEN"].bearer(), "X-Room": room, "X-Account": account}}
    return ctx.http.get("https://{here}/", headers=headers).text


@tool(safety="read", needs=NEEDS)
def read_room_oneself(ctx: Context, room: str) -> str:
    """Read a room with a client of one's own."""
    headers = {{"Authorization": ctx.secrets["CHAT_TOKEN"].bearer(), "X-Room": room}}
    return requests.get("https://{here}/", headers=headers, timeout=10).text


@tool(safety="read", needs=[Network("{here}"), Secrets("CHAT_BOSS", hosts=["{here}"])])
def read_as_boss(ctx: Context) -> str:
    """Read with the credential of one account by its name."""
    return ctx.http.get("https://{here}/", headers={{"Authorization": ctx.secrets["CHAT_BOSS"].bearer()}}).text
'''


def agent(desk: Desk, *bindings: str) -> dict[str, Any]:
    places = [dict(zip(("channel", "instance"), each.split(":"), strict=True)) for each in bindings]
    return {
        "allowed_tools": ["*"],
        "network": desk.network,
        "secrets": {"allow": ["CHAT_TOKEN"]},
        "bindings": [{**place, "allowed_tools": []} for place in places],
    }


def config(folder: Path, desk: Desk) -> dict[str, Any]:
    (folder / "chat_tools.py").write_text(TOOLS.format(here=desk.here))
    files = {
        name: {"file": private_file(folder / f"{name}.key", value)} for name, value in {**VALUES, **OTHERS}.items()
    }
    return {
        "version": 1,
        "tools": {"modules": ["chat_tools"], "path": [str(folder)]},
        "people": {"bob": {"roles": ["operator"]}},
        "accounts": {
            "chat": {
                "sales": {"agents": ["ana"], "credential": "CHAT_SALES"},
                "boss": {"agents": ["ben", "ana"], "credential": "CHAT_BOSS"},
                "quiet": {"agents": ["ana"]},
            },
            "mail": {"desk": {"agents": ["ana"], "credential": "MAIL_KEY"}},
        },
        "agents": {"ana": agent(desk, "chat:sales", "chat:quiet", "mail:desk"), "ben": agent(desk, "chat:boss")},
        "secrets": {**files, "CHAT_TOKEN": {"account": "chat"}},
        "sandbox": {"kind": "local"},
        "store": {"url": f"sqlite:///{folder}/state/ringfence.db"},
        "audit": {"anchor": f"{folder}/state/anchor.log", "signing_key": f"{folder}/state/audit.key"},
    }


def signed_in(desk: Desk) -> list[str]:
    """Who signed in, by the far side's log."""
    lines = [line.decode() for head in desk.heard for line in head.split(b"\r\n")]
    return [line.partition(" ")[2] for line in lines if line.lower().startswith("authorization:")]


async def call(runtime: Runtime, agent: str, binding: str, tool: str, **arguments: str) -> Outcome:
    return await runtime.session(agent=agent, binding=binding).call(tool, arguments)


async def test_each_agent_signs_in_with_the_account_of_its_binding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        a_desk(tmp_path, monkeypatch) as desk,
        open_runtime(config(tmp_path, desk), accept_as="bob") as runtime,
    ):
        for tool in ("read_room", "read_room_oneself"):
            for who, binding in (("ana", "chat:sales"), ("ben", "chat:boss"), ("ana", "chat:sales")):
                outcome = await call(runtime, who, binding, tool, room="lobby")
                assert isinstance(outcome, Completed), outcome
    sales, boss = (f"Bearer {value}" for value in VALUES.values())
    assert signed_in(desk) == [sales, boss, sales] * 2


async def test_no_argument_says_as_whom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        a_desk(tmp_path, monkeypatch) as desk,
        open_runtime(config(tmp_path, desk), accept_as="bob") as runtime,
    ):
        for said in ("chat:boss", "CHAT_BOSS", "boss", "ben"):
            await call(runtime, "ana", "chat:sales", "read_room", room=said, account=said)
        by_name = await call(runtime, "ana", "chat:sales", "read_as_boss")
        assert isinstance(by_name, Refused), by_name
        assert by_name.code == "tool_not_found"
        for binding in ("chat:quiet", "mail:desk"):
            elsewhere = await call(runtime, "ana", binding, "read_room", room="x")
            assert isinstance(elsewhere, Refused), elsewhere
            assert (elsewhere.code, binding) == ("not_available", binding)
    assert signed_in(desk) == [f"Bearer {VALUES['CHAT_SALES']}"] * 4


CHANGES: dict[str, tuple[tuple[str, ...], Any]] = {
    "there is no channel `chatt`": (("secrets", "CHAT_TOKEN", "account"), "chatt"),
    "is itself the credential": (("accounts", "chat", "sales", "credential"), "CHAT_TOKEN"),
    "and the agent has no binding there": (("agents", "ana", "bindings"), []),
}


@pytest.mark.parametrize("problem", CHANGES)
async def test_a_credential_that_nobody_could_have_is_found_at_load(tmp_path: Path, problem: str) -> None:
    settings = config(tmp_path, Desk(port=443))
    (*path, last), value = CHANGES[problem]
    place = settings
    for key in path:
        place = place[key]
    place[last] = value
    with pytest.raises(ConfigInvalid) as raised:
        async with open_runtime(settings, accept_as="bob"):
            pass
    assert [each for each in raised.value.problems if problem in each] != []
