"""How a coroutine becomes a call that blocks: it runs on a loop in another thread, and the caller waits.

Takes: methods that are awaited.  Gives: the same methods without `await`, with the same parameters.
Never: runs on the caller's loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from ringfence.errors import Misuse

Value = TypeVar("Value")
Given = ParamSpec("Given")
Original = TypeVar("Original")


class Loop:
    """An event loop that runs in another thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def wait(self, work: Coroutine[Any, Any, Value]) -> Value:
        if _running_here() is self._loop:
            work.close()
            raise Misuse(
                "a blocking call was made on the runtime's own event loop", remedy="await the runtime itself there"
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        """The loop is the runtime's; whoever opened it stops it."""


class OwnLoop(Loop):
    """A loop and a thread made for one runtime."""

    def __init__(self) -> None:
        super().__init__(asyncio.new_event_loop())
        self._thread = threading.Thread(target=self._loop.run_forever, name="ringfence", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _running_here() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class Twin(Generic[Original]):
    """One handle of the runtime, for callers without a loop."""

    def __init__(self, original: Original, *, loop: Loop) -> None:
        self._original = original
        self._loop = loop

    def _wait(self, work: Coroutine[Any, Any, Value]) -> Value:
        return self._loop.wait(work)

    def _each(self, values: AsyncIterator[Value]) -> Generator[Value, None, None]:
        """What an asynchronous iterator gives, one by one; it is closed when the caller leaves."""
        try:
            while True:
                yield self._wait(_next(values))
        except _End:
            return
        finally:
            self._wait(_close(values))


def waits(
    method: Callable[Concatenate[Original, Given], Coroutine[Any, Any, Value]],
) -> Callable[Concatenate[Twin[Original], Given], Value]:
    """The same method, waited for."""

    @wraps(method)
    def wait(self: Twin[Original], /, *given: Given.args, **named: Given.kwargs) -> Value:
        return self._wait(method(self._original, *given, **named))  # pyright: ignore[reportPrivateUsage]

    return wait


def iterates(
    method: Callable[Concatenate[Original, Given], AsyncIterator[Value]],
) -> Callable[Concatenate[Twin[Original], Given], Generator[Value, None, None]]:
    """The same method, as an iterator that blocks for each value."""

    @wraps(method)
    def iterate(self: Twin[Original], /, *given: Given.args, **named: Given.kwargs) -> Generator[Value, None, None]:
        return self._each(method(self._original, *given, **named))  # pyright: ignore[reportPrivateUsage]

    return iterate


class _End(Exception):
    """An iterator gave all it had; `StopIteration` cannot pass through a coroutine."""


async def _next(values: AsyncIterator[Value]) -> Value:
    try:
        return await anext(values)
    except StopAsyncIteration:
        raise _End from None


async def _close(values: AsyncIterator[Any]) -> None:
    close = getattr(values, "aclose", None)
    if close is not None:
        await close()
