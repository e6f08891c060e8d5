"""The calls that run in this process, so that a freeze can end them.

Takes: the execution of a call.  Gives: its result, or the word that an operator stopped it.
Never: ends a call without its caller being told, and never lets one outlive its caller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from ringfence.errors import CallFailed
from ringfence.runtime.freezing import Freeze

Value = TypeVar("Value")


@dataclass(eq=False, kw_only=True)
class _Call:
    agent: str
    tool: str
    started_at: datetime
    caller: asyncio.Task[Any]
    stopped_by: Freeze | None = None

    @property
    def was_left(self) -> bool:
        """Whether the caller is being cancelled by somebody else too."""
        return self.caller.cancelling() > 1


def _this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a call runs within a task, so that a freeze can end it")
    return task


class Running:
    """Every call under way here."""

    def __init__(self) -> None:
        self._calls: set[_Call] = set()
        self.begun = 0

    @property
    def since(self) -> datetime | None:
        """When the oldest call under way was started; nothing if none is."""
        return min((call.started_at for call in self._calls), default=None)

    async def run(self, work: Coroutine[Any, Any, Value], *, agent: str, tool: str, started_at: datetime) -> Value:
        """Do the work; a freeze ends it, with its jail, and that is a failure of the call."""
        call = _Call(agent=agent, tool=tool, started_at=started_at, caller=_this_task())
        self._calls.add(call)
        self.begun += 1
        try:
            # In the caller's own task, which a freeze cancels: a task for each call would cost turns of the event loop.
            return await work
        except asyncio.CancelledError:
            if call.stopped_by is None or call.was_left:
                raise
            raise CallFailed("an operator froze calls while this one ran", code="frozen") from None
        finally:
            self._calls.discard(call)
            if call.stopped_by is not None:
                call.caller.uncancel()  # it goes on, with the failure on record

    def stop(self, freezes: Iterable[Freeze]) -> int:
        """End every call that one of the freezes holds; gives how many."""
        frozen = tuple(freezes)
        ended = 0
        for call in self._calls:
            by = next(
                (f for f in frozen if f.stops(agent=call.agent, tool=call.tool, started_at=call.started_at)), None
            )
            if by is not None and call.stopped_by is None and call.caller.cancel():
                call.stopped_by = by
                ended += 1
        return ended
