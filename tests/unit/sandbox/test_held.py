"""A process that is held is killed and waited for by its descriptor, however it ended."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator

import pytest

from ringfence.sandbox.processes import Held

pytestmark = [pytest.mark.asyncio, pytest.mark.req("SBX-9")]
SECONDS = 20


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as started:
        yield started
        started.kill()


async def test_whoever_waits_is_told_that_it_ended(process: subprocess.Popen[bytes]) -> None:
    held, told = Held(process.pid), asyncio.Event()
    held.tell_when_ended(told.set)
    held.kill()
    assert await asyncio.wait_for(told.wait(), SECONDS)
    held.let_go()


async def test_a_second_kill_of_one_that_is_gone_keeps_nobody_from_being_told(process: subprocess.Popen[bytes]) -> None:
    """A call can be stopped twice: for its jail that is gone, and for its channel that was reset."""
    held, told = Held(process.pid), asyncio.Event()
    held.tell_when_ended(told.set)
    process.kill()
    process.wait()
    held.kill()
    assert await asyncio.wait_for(told.wait(), SECONDS)
    held.let_go()


async def test_whoever_waits_for_one_that_was_let_go_is_told_at_once(process: subprocess.Popen[bytes]) -> None:
    held, told = Held(process.pid), asyncio.Event()
    process.kill()
    process.wait()
    before = len(os.listdir("/proc/self/fd"))
    held.kill()
    assert len(os.listdir("/proc/self/fd")) == before - 1
    held.tell_when_ended(told.set)
    assert await asyncio.wait_for(told.wait(), SECONDS)


async def test_its_status_is_of_the_very_process_that_was_held_and_ends_with_it(
    process: subprocess.Popen[bytes],
) -> None:
    before = len(os.listdir("/proc/self/fd"))
    held = Held(process.pid)
    assert f"\nPid:\t{process.pid}\n".encode() in held.status()
    process.kill()
    async with asyncio.timeout(SECONDS):
        while b"\nState:\tZ" not in held.status():  # noqa: ASYNC110  the kernel tells nobody
            await asyncio.sleep(0.001)
    process.wait()
    with pytest.raises(ProcessLookupError):
        held.status()
    held.let_go()
    assert len(os.listdir("/proc/self/fd")) == before


async def test_one_that_was_let_go_shows_nothing(process: subprocess.Popen[bytes]) -> None:
    held = Held(process.pid)
    held.let_go()
    with pytest.raises(ProcessLookupError):
        held.status()
