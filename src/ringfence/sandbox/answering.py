"""What one call asks of its host while it runs: one question at a time, each answered over the channel it came by.

Takes: questions as they arrive, and a desk that answers.  Gives: answers, and in the end what was done.
Never: hears a second question before the first is answered, or answers a call that has replied.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from ringfence.execution.storage import Desk
from ringfence.inside import wire

_log = logging.getLogger(__name__)


class Answering:
    """The questions of one call."""

    def __init__(self, desk: Desk, *, send: Callable[[bytes], None], stop: Callable[[str, str], None]) -> None:
        self._desk = desk
        self._send = send
        self._stop = stop
        self._work: asyncio.Future[None] | None = None

    def hear(self, question: bytes) -> None:
        """Begin to answer; `Malformed` where the last one is not answered yet."""
        if self._work is not None and not self._work.done():
            raise wire.Malformed("a question came before the last one was answered")
        self._work = asyncio.ensure_future(self._answer(question))

    async def ended(self) -> dict[str, Any]:
        """What was done for the call, once nothing of it is under way any more."""
        if self._work is not None:
            await asyncio.wait([self._work])
        return self._desk.document()

    async def _answer(self, question: bytes) -> None:
        try:
            self._send(wire.pack(wire.Kind.ANSWER, await self._desk.answer(question)))
        except Exception as failure:
            _log.exception("a question of a call could not be answered")
            self._stop("protocol_error", f"a question of the tool could not be answered: {type(failure).__name__}")
