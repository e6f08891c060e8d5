"""While a tool uses its secret against a real server, the value is found nowhere but where it is kept; and would be."""

from __future__ import annotations

import base64
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.runtime import Completed, Outcome, Runtime, Waiting
from tests.acceptance.secrets import search
from tests.acceptance.secrets.far import Desk, a_desk, private_file

pytestmark = pytest.mark.req("SEC-2", "SEC-3")

VALUE = "zebra-orchid-41-lantern"
CODED = base64.b64encode(b"ana:" + VALUE.encode())
WORDS = (VALUE.encode(), VALUE[::-1].encode(), VALUE.encode().hex().encode(), CODED[8:-4])
TOOLS = '''
import os
import socket

import httpx
import requests

from ringfence import Context, Network, Processes, Secrets, tool

HERE = "{here}"
NEEDS = [Network(HERE), Secrets("DESK_KEY", hosts=[HERE]), Processes("curl")]
BARE = [Network(HERE), Secrets("DESK_KEY", hosts=[HERE], reveal=True), Processes("curl")]


@tool(safety="read", needs=NEEDS)
def ask(ctx: Context, by: str) -> str:
    """Use the secret, one way or another."""
    url, held = f"https://{{HERE}}/", ctx.secrets["DESK_KEY"]
    headers = {{"Authorization": held.bearer()}}
    if by == "ctx":
        return ctx.http.get(url, headers=headers).text
    if by == "requests":
        return requests.get(url, auth=("ana", held.placeholder()), timeout=20).text
    if by == "httpx":
        return httpx.get(url, headers=headers, timeout=20).text
    return ctx.processes.run(["curl", "-sS", "-H", f"Authorization: {{held.bearer()}}", url]).stdout.decode()


@tool(safety="network", egress="write", idempotency="optional", needs=BARE)
def careless(ctx: Context) -> str:
    """Leave the value in every kind of place, and use it."""
    value = ctx.secrets["DESK_KEY"].raw()
    os.environ["LEFT"] = value
    with open("/tmp/left", "w") as file:
        file.write(value)
    unnamed = open("/tmp/unnamed", "w+")
    unnamed.write(value)
    unnamed.flush()
    os.unlink("/tmp/unnamed")
    pipe = os.pipe()
    os.write(pipe[1], value.encode())
    one, other = socket.socketpair()
    one.send(value.encode())
    print(value, flush=True)
    url = f"https://{{HERE}}/"
    return ctx.processes.run(["curl", "-sS", "-H", f"Authorization: Bearer {{value}}", url]).stdout.decode()
'''


@dataclass(kw_only=True)
class Searched:
    """A runtime whose far side searches it while a request is there."""

    runtime: Runtime
    desk: Desk
    folder: Path
    live: list[int] = field(default_factory=list[int])
    found: set[str] = field(default_factory=set[str])
    kept: list[Path] = field(default_factory=list[Path])

    def look(self) -> None:
        self.live = search.descendants()
        self.found |= search.places_in(self.live, words=WORDS)
        self.kept += search.files_with(self.folder, words=WORDS, apart_from=[self.folder / "desk.key"])

    async def call(self, tool: str, **arguments: str) -> Outcome:
        session = self.runtime.session(agent="ana")
        outcome = await session.call(tool, arguments)
        if isinstance(outcome, Waiting):
            await self.runtime.approvals.vote(outcome.approval_id, voter="alice", decision="approve")
            outcome = await session.resume(outcome.invocation_id)
        return outcome


@asynccontextmanager
async def opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Searched]:
    async with a_desk(folder, monkeypatch) as desk:
        (folder / "desk_tools.py").write_text(TOOLS.format(here=desk.here))
        config: dict[str, Any] = {
            "version": 1,
            "tools": {"modules": ["desk_tools"], "path": [str(folder)]},
            "people": {"alice": {"roles": ["approver"]}, "bob": {"roles": ["operator"]}},
            "agents": {
                "ana": {
                    "allowed_tools": ["*"],
                    "network": desk.network,
                    "processes": {"allow": ["curl"]},
                    "secrets": {"allow": ["DESK_KEY"]},
                }
            },
            "secrets": {"DESK_KEY": {"file": private_file(folder / "desk.key", VALUE)}},
            "sandbox": {"kind": "local"},
            "store": {"url": f"sqlite:///{folder}/state/ringfence.db"},
            "audit": {"anchor": f"{folder}/state/anchor.log", "signing_key": f"{folder}/state/audit.key"},
        }
        async with open_runtime(config, accept_as="bob") as runtime:
            searched = Searched(runtime=runtime, desk=desk, folder=folder)
            desk.meanwhile = searched.look
            yield searched


async def test_while_it_is_used_the_value_is_in_no_jail_no_file_and_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with opened(tmp_path, monkeypatch) as searched:
        for by in ("ctx", "requests", "httpx", "curl"):
            outcome = await searched.call("ask", by=by)
            assert isinstance(outcome, Completed), outcome
            assert (outcome.output, by) == ("hello", by)
            assert len(searched.live) >= 4  # a fork server, a warden, a zygote, spares, the tool
            searched.look()  # and once more when the call is over and the spares wait
        signed_in = [head for head in searched.desk.heard if VALUE.encode() in head or CODED in head]
        assert len(signed_in) == len(searched.desk.heard) == 4
        assert (searched.found, searched.kept) == (set(), [])
    assert search.files_with(tmp_path, words=WORDS, apart_from=[tmp_path / "desk.key"]) == []
    assert [word for word in WORDS if word in caplog.text.encode()] == []


async def test_the_same_search_finds_what_a_tool_leaves_in_every_kind_of_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, monkeypatch) as searched:
        outcome = await searched.call("careless")
        assert isinstance(outcome, Completed), outcome
        assert searched.found == search.IN_A_PROCESS


async def test_the_same_search_finds_what_is_written_to_store_state_and_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    state = tmp_path / "state"
    async with opened(tmp_path, monkeypatch) as searched:
        # Under another name than the runtime knows, so that nothing takes it out.
        planted = "walnut-harbour-88-cobalt"
        await searched.call("ask", by=planted)
        (state / "left.log").write_text(planted)
        logging.getLogger("ringfence").warning("%s", planted)
        found = search.files_with(tmp_path, words=[planted.encode()])
    assert {file.name for file in found} >= {"left.log"}
    assert any(file.name.startswith("ringfence.db") for file in found)
    assert planted in caplog.text
