"""A job that is handed to a thread, and whoever waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from ringfence.errors import Misuse
from ringfence.store.settled import handed_over

pytestmark = pytest.mark.req("AUD-3", "DB-1")


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=1) as one:
        yield one


async def test_the_result_and_the_error_come_back(thread: ThreadPoolExecutor) -> None:
    assert await handed_over(thread, threading.get_ident) != threading.get_ident()

    def fail() -> None:
        raise Misuse("no")

    with pytest.raises(Misuse, match="no"):
        await handed_over(thread, fail)


@pytest.mark.parametrize("ends", ["well", "badly"])
async def test_whoever_is_cancelled_is_told_once_the_job_is_done(thread: ThreadPoolExecutor, ends: str) -> None:
    entered, leave, left = threading.Event(), threading.Event(), threading.Event()
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    def job() -> None:
        entered.set()
        assert leave.wait(10)
        left.set()
        if ends == "badly":
            raise Misuse("no")

    async def wait() -> None:
        await handed_over(thread, job)

    waiting = asyncio.create_task(wait())
    await asyncio.to_thread(entered.wait, 10)
    for _ in range(3):
        assert waiting.cancel()
        await asyncio.sleep(0)
        assert not waiting.done()
    leave.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (left.is_set(), waiting.cancelled(), complaints) == (True, True, [])


async def test_a_thread_that_ended_takes_no_job(thread: ThreadPoolExecutor) -> None:
    thread.shutdown()
    with pytest.raises(RuntimeError):
        handed_over(thread, threading.get_ident)
