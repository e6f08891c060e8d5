"""A process that has replied is killed where nothing can come of it any more, and asked to leave elsewhere."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from ringfence.inside.wire import LAST, Kind, pack
from ringfence.sandbox.exchange import Exchange, Writes
from ringfence.sandbox.live import Live, measure_live
from ringfence.sandbox.processes import Held
from tests.stand_in import spare_of

pytestmark = pytest.mark.req("SBX-9")

_REPLY = pack(Kind.OUTPUT, b'"sound"') + LAST
_SLEEPS = "import time; print(flush=True); time.sleep(3600)"
_RUNS = "print(flush=True)\nwhile True: pass"
_SLEEPS_TWICE = """
import threading, time
threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
print(flush=True)
time.sleep(3600)
"""


def measured(process: subprocess.Popen[bytes]) -> Live:
    held = Held(process.pid)
    live = measure_live(held)
    held.let_go()
    assert live is not None
    return live


@asynccontextmanager
async def _replied(
    script: str, *, writes: Writes, afterwards: Callable[[], object] | None = None
) -> AsyncGenerator[tuple[Exchange, subprocess.Popen[bytes]]]:
    """A process that runs the script, for which a whole reply was said."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    printed, printed_theirs = os.pipe()
    command = [sys.executable, "-I", "-S", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process, theirs:  # noqa: ASYNC220  it is local
        assert process.stdout is not None
        process.stdout.readline()
        async with asyncio.timeout(10):
            while measured(process).asleep is not (script != _RUNS):  # noqa: ASYNC110  the kernel tells nobody
                await asyncio.sleep(0.001)
        spare = spare_of(process.pid, channel=ours, printed=printed)
        exchange = Exchange(spare, frames=b"", wall_seconds=30, most_output=1000, writes=writes)
        exchange.afterwards = afterwards
        theirs.sendall(_REPLY)
        theirs.setblocking(False)
        async with asyncio.timeout(10):
            assert await asyncio.get_running_loop().sock_recv(theirs, 1) == b""  # the host has nothing more to say
        try:
            yield exchange, process
        finally:
            process.kill()
            os.close(printed_theirs)
            exchange.lost()


@pytest.mark.parametrize(
    ("script", "writes"), [(_SLEEPS, "nowhere"), (_SLEEPS, "granted files"), (_RUNS, "nowhere")],
    ids=["asleep", "asleep with files", "running"],
)  # fmt: skip
async def test_one_thread_that_can_change_nothing_more_is_ended_at_once(script: str, writes: Writes) -> None:
    async with _replied(script, writes=writes) as (exchange, process):
        said = exchange.over.result()
        assert (said.frame, said.fault, said.ended) == ((Kind.OUTPUT, b'"sound"'), None, "with its reply")
        assert process.wait(timeout=10) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("script", "writes"), [(_RUNS, "granted files"), (_SLEEPS_TWICE, "nowhere")],
    ids=["running with files", "two threads"],
)  # fmt: skip
async def test_a_process_that_may_still_do_something_is_asked_to_leave(script: str, writes: Writes) -> None:
    async with _replied(script, writes=writes) as (exchange, process):
        assert not exchange.over.done()
        assert process.poll() is None


async def test_the_next_is_asked_for_once_and_when_the_call_is_over() -> None:
    asked: list[str] = []
    async with _replied(_SLEEPS, writes="nowhere", afterwards=lambda: asked.append("one")) as (exchange, _):
        assert exchange.over.done()
        assert asked == ["one"]
    async with _replied(_RUNS, writes="granted files", afterwards=lambda: asked.append("other")) as (exchange, _):
        assert asked == ["one"]
    assert asked == ["one", "other"]


async def test_whatever_becomes_of_the_next_the_call_is_told_of() -> None:
    def fail() -> None:
        raise RuntimeError("there is no next")

    async with _replied(_RUNS, writes="granted files", afterwards=fail) as (exchange, _):
        with pytest.raises(RuntimeError, match="no next"):
            exchange.lost()
        assert exchange.over.result().ended == "unknown"
