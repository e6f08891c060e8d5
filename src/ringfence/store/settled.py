"""Waiting for a thread, so that a cancellation meets a move that is made or undone, never one under way.

Takes: what was handed to a thread, or what to hand to it.  Gives: its result.  Never: leaves it behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def settled(waiting: asyncio.Future[T]) -> T:
    """The result; whoever is cancelled meanwhile is told so once the work is done or undone, never in between."""
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        while not waiting.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([waiting])
        raise


class _Kept(asyncio.Future[T]):
    """Does not let itself be cancelled; a task that waits for it and is cancelled is told so when it is done."""

    def cancel(self, msg: Any | None = None) -> bool:
        return False


def handed_over(thread: Executor, job: Callable[[], T]) -> asyncio.Future[T]:
    """The result of a job, as `settled` waits for it, without the three futures that `run_in_executor` costs."""
    loop = asyncio.get_running_loop()
    waiting = _Kept[T](loop=loop)
    thread.submit(_do, job, waiting, loop)
    return waiting


def _do(job: Callable[[], T], waiting: asyncio.Future[T], loop: asyncio.AbstractEventLoop) -> None:
    try:
        result = job()
    except BaseException as error:
        loop.call_soon_threadsafe(_fail, waiting, error)
    else:
        loop.call_soon_threadsafe(waiting.set_result, result)


def _fail(waiting: asyncio.Future[Any], error: BaseException) -> None:
    waiting.set_exception(error)
    waiting.exception()  # whoever was cancelled does not ask for it, and asyncio would complain
