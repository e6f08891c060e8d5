"""What people said no to, session by session, so that nobody is worn down by being asked again.

Takes: the trail, read on from where this process last stood.  Gives: what was heard about one tool in one session.
Never: forgets a rejection that it has met; a process that comes late reads the newest `MOST_EVENTS` and no further.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from ringfence.approvals.inbox import Approval
from ringfence.approvals.likeness import likeness
from ringfence.audit.chain import Link
from ringfence.runtime.invocation import Recorded

MOST_EVENTS = 20_000
MOST_IN_A_ROW = 3

Word: TypeAlias = Literal["approved", "rejected", "repeated"]


class Record(Protocol):
    """The part of a store that remembers who said no."""

    async def recorded(self, invocation_id: str) -> Recorded | None: ...

    async def position(self) -> int: ...

    def links(self, *, after: int = 0, limit: int | None = None) -> AsyncIterator[tuple[int, Link]]: ...


@dataclass(kw_only=True)
class Heard:
    """What was said about one tool in one session: the calls that were rejected, and how many in a row."""

    rejected: list[Recorded] = field(default_factory=list[Recorded])
    rejections: int = 0
    repeats: int = 0

    @property
    def is_enough(self) -> bool:
        """Whether people said no, or a settled call was tried again, too often since a person last said yes."""
        return max(self.rejections, self.repeats) >= MOST_IN_A_ROW

    def add(self, word: Word, call: Recorded) -> None:
        if word == "approved":
            self.rejections = self.repeats = 0
        elif word == "repeated":
            self.repeats += 1
        else:
            self.rejections += 1
            self.rejected.append(call)

    def alike(self, arguments: Mapping[str, Any], *, schema: Mapping[str, Any]) -> Approval | None:
        """The rejection of a call that a person would take for one with these arguments."""
        sought = likeness(arguments, schema=schema) if self.rejected else ""
        found = (call for call in self.rejected if likeness(call.arguments(), schema=schema) == sought)
        return next((call.approval for call in found if call.approval), None)


class Rejections:
    """All that this process has met of them."""

    def __init__(self) -> None:
        self._heard: dict[tuple[str, str], Heard] = {}
        self._asked: set[tuple[str, str]] = set()
        self._position: int | None = None
        self._reading = asyncio.Lock()

    def asked(self, session: str, tool: str) -> None:
        """People were asked about this tool here, so what they say will concern its other calls."""
        self._asked.add((session, tool))

    def concern(self, session: str, tool: str) -> bool:
        """Whether anybody can have said anything, as far as this process knows."""
        return (session, tool) in self._asked or (session, tool) in self._heard

    async def heard(self, session: str, tool: str, *, record: Record) -> Heard:
        """What was said up to now, in whatever process."""
        async with self._reading:
            await self._read_on(record)
        return self._heard.get((session, tool)) or Heard()

    async def _read_on(self, record: Record) -> None:
        if self._position is None:
            self._position = max(0, await record.position() - MOST_EVENTS)
        async for position, link in record.links(after=self._position):
            await self._meet(link, record)
            self._position = position

    async def _meet(self, link: Link, record: Record) -> None:
        word = _word(link)
        call = await record.recorded(link.invocation_id) if word and link.invocation_id else None
        if word and call:
            key = (call.invocation.session, call.invocation.tool)
            self._heard.setdefault(key, Heard()).add(word, call)


def _word(link: Link) -> Word | None:
    """What an event says about a request; nothing, if it is about something else or its body was let go."""
    if link.body is None:
        return None
    if link.kind == "approval_resolved":
        status = json.loads(link.body)["status"]
        return status if status in ("approved", "rejected") else None
    if link.kind == "policy_decision" and "approval_rejected" in link.body:
        return "repeated" if json.loads(link.body)["code"] == "approval_rejected" else None
    return None
