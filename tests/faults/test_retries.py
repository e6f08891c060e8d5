"""What is tried again by itself, in real jails and against a real server that counts: only what left no trace."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.errors import CallRefused
from ringfence.runtime import Completed, Failed, Outcome, Refused, Runtime, Waiting
from ringfence.runtime.invocation import Status
from ringfence.sandbox.turns import Turns
from tests.acceptance.spine.household import config
from tests.faults.doubtful_tools import DOUBTFUL

pytestmark = pytest.mark.req("CON-9", "IDM-3")


@dataclass
class Counting:
    """A server on loopback that counts what it hears, and whose answer may be no answer."""

    port: int
    answers: bool = True
    hangs_up: bool = False
    heard: list[bytes] = field(default_factory=list[bytes])
    _server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    @property
    def keys(self) -> set[bytes]:
        return {key for heard in self.heard for key in re.findall(rb"(?i)idempotency-key: (\S+)", heard)}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(await reader.readuntil(b"\r\n\r\n"))
        status = b"200 OK" if self.answers else b"503 Service Unavailable"
        if not self.hangs_up:
            writer.write(b"HTTP/1.1 %s\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone" % status)
        await writer.drain()
        writer.close()


@dataclass
class Scene:
    """A runtime with the shipped jail, and the far side."""

    runtime: Runtime
    far: Counting

    async def call(self, tool: str, word: str, *, key: str = "k") -> Outcome:
        """One call, with the vote that it needs."""
        session = self.runtime.session(agent="ana", user="ulla")
        outcome = await session.call(tool, {"word": word}, idempotency_key=key)
        if not isinstance(outcome, Waiting):
            return outcome
        await self.runtime.approvals.vote(outcome.approval_id, voter="alice", decision="approve")
        return await session.resume(outcome.invocation_id)

    async def failed(self, tool: str, word: str) -> tuple[Status, int]:
        """How a call stands that gave no reply, and how often it was tried."""
        outcome = await self.call(tool, word)
        assert isinstance(outcome, Failed), outcome
        recorded = await self.runtime.recorded(outcome.invocation_id)
        assert recorded is not None
        return recorded.status, 1 + len(outcome.effects.get("earlier", ()))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@asynccontextmanager
async def scene(folder: Path) -> AsyncGenerator[Scene]:
    """Nobody listens yet at the far side."""
    far = Counting(port=_free_port())
    (folder / "doubtful.py").write_text(DOUBTFUL.format(port=far.port))
    here = f"127.0.0.1:{far.port}"
    outbox = folder / "work" / "outbox"
    outbox.mkdir(parents=True)
    settings: dict[str, Any] = config(
        folder,
        agent={"network": {"allow": [here], "private": [here]}, "workspace": str(folder / "work")},
        tools={"modules": ["doubtful"], "path": [str(folder)]},
        sandbox={"kind": "local"},
    )
    async with open_runtime(settings, accept_as="bob") as runtime:
        yield Scene(runtime=runtime, far=far)
    far.stop()


@pytest.mark.parametrize("tool", ["send", "send_unread"])
async def test_a_call_of_which_no_byte_left_is_tried_again_and_its_key_is_free(tmp_path: Path, tool: str) -> None:
    async with scene(tmp_path) as one:
        assert await one.failed(tool, "x") == (Status.FAILED, 3)
        await one.far.start()
        assert isinstance(await one.call(tool, "x"), Completed)
        assert len(one.far.heard) == 1


@pytest.mark.parametrize("tool", ["send", "send_unread"])
async def test_a_call_of_which_one_byte_left_is_never_tried_again(tmp_path: Path, tool: str) -> None:
    async with scene(tmp_path) as one:
        one.far.answers = False
        await one.far.start()
        assert await one.failed(tool, "x") == (Status.IN_DOUBT, 1)
        again = await one.call(tool, "x")
        assert isinstance(again, Refused)
        assert (again.code, len(one.far.heard)) == ("in_doubt", 1)


async def test_a_read_is_tried_again_whatever_left(tmp_path: Path) -> None:
    async with scene(tmp_path) as one:
        one.far.answers = False
        await one.far.start()
        assert await one.failed("ask", "x") == (Status.FAILED, 3)
        assert len(one.far.heard) == 3


@pytest.mark.parametrize("tool", ["ask", "ask_by_hand"])
async def test_a_far_side_that_hangs_up_is_asked_again(tmp_path: Path, tool: str) -> None:
    async with scene(tmp_path) as one:
        one.far.hangs_up = True
        await one.far.start()
        assert await one.failed(tool, "x") == (Status.FAILED, 3)
        assert len(one.far.heard) == 3


async def test_where_the_far_side_knows_the_key_every_attempt_carries_the_same(tmp_path: Path) -> None:
    async with scene(tmp_path) as one:
        one.far.answers = False
        await one.far.start()
        assert await one.failed("send_known", "x") == (Status.FAILED, 3)
        assert (len(one.far.heard), len(one.far.keys)) == (3, 1)
        one.far.answers = True
        assert isinstance(await one.call("send_known", "x"), Completed)
        assert (len(one.far.heard), len(one.far.keys)) == (4, 1)


async def test_a_call_that_wrote_no_file_is_tried_again_and_its_key_is_free(tmp_path: Path) -> None:
    async with scene(tmp_path) as one:
        for _ in range(2):
            assert await one.failed("put", "before") == (Status.FAILED, 3)


@pytest.mark.parametrize("word", ["kept", "gone", "folder"])
async def test_a_call_that_wrote_a_file_even_one_that_is_gone_is_never_tried_again(tmp_path: Path, word: str) -> None:
    async with scene(tmp_path) as one:
        assert await one.failed("put", word) == (Status.IN_DOUBT, 1)
        again = await one.call("put", word)
        assert isinstance(again, Refused)
        assert again.code == "in_doubt"


@pytest.mark.req("SBX-10")
async def test_a_call_that_no_process_was_given_is_not_in_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path) as one:
        assert isinstance(await one.call("put", "well", key="first"), Completed)
        monkeypatch.setattr(Turns, "take", _no_turn)
        for tool, word in (("put", "kept"), ("send", "x")):
            assert await one.failed(tool, word) == (Status.FAILED, 1)
        monkeypatch.undo()
        await one.far.start()
        assert isinstance(await one.call("send", "x"), Completed)
        assert len(one.far.heard) == 1


async def _no_turn(_self: Turns, _agent: str) -> None:
    raise CallRefused("256 calls wait already", code="queue_full")
