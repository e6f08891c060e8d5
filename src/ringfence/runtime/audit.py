"""The trail as a reader meets it: proved, followed, exported, told again; and an operator who lets old bodies go.

Takes: nothing but the store.  Gives: reports, events, bundles.  Never: changes an event.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ringfence.audit.chain import Link
from ringfence.audit.events import event
from ringfence.audit.replay import Replay, ReplayedCall
from ringfence.audit.retention import Removal, cutoff
from ringfence.audit.verify import Report
from ringfence.errors import Misuse, TrailUnavailable
from ringfence.runtime.operators import require_operator
from ringfence.runtime.parts import Parts
from ringfence.sanitise import visible

_SHORTEST_WAIT, _LONGEST_WAIT = 0.02, 1.0


@dataclass(frozen=True, kw_only=True)
class Removed:
    """What retention did: how many bodies went, and before which moment."""

    before: datetime
    bodies: int


class Audit:
    """Reading the trail."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def verify(self, *, key: str | None = None) -> Report:
        """Prove that nothing was altered, removed, cut off or put back; `key` is a fingerprint kept elsewhere."""
        return await self._parts.store.verify(key=key)

    async def export(self) -> AsyncIterator[dict[str, Any]]:
        """Every event in the order it was kept, with all that its hash covers."""
        async for _, link in self._parts.store.links():
            yield link_document(link)

    async def bundle(self, write: Callable[[bytes], object]) -> int:
        """The whole trail as lines that verify elsewhere; a broken trail is not signed over."""
        report = await self.verify()
        if not report.ok:
            raise TrailUnavailable(f"the trail is broken: {report.problems[0]}", code="audit_broken")
        return await self._parts.store.bundle(write)

    async def replay(self, session: str) -> list[ReplayedCall]:
        """The calls of a session as they happened, from the trail alone; nothing runs."""
        replay = Replay(session)
        async for _, link in self._parts.store.links():
            replay.meet(link)
        return replay.calls()

    async def raw(self, invocation_id: str, *, by: str) -> dict[str, Any]:
        """What the tool of a call really said, for an operator's eyes; that somebody looked is on record."""
        await require_operator(self._parts, by, wanted="raw_read")
        sealed = [
            body["raw"]
            async for _, link in self._parts.store.links()
            if link.invocation_id == invocation_id and (body := json.loads(link.body or "{}")).get("raw")
        ]
        if not sealed:
            raise Misuse(f"the trail holds no raw output of `{visible(invocation_id)}`", remedy="name a call that ran")
        detail = {"call": invocation_id, "by": by}
        looked = event("security_event", at=self._parts.now(), body={"what": "raw_read", "detail": detail})
        await self._parts.store.append([looked])
        return self._parts.seal.opened(sealed[-1], about=invocation_id)

    async def removable(self) -> int:
        """How many bodies of calls are older than the configured time."""
        return await self._parts.store.removable(before=self._cutoff())

    async def remove_bodies(self, *, by: str) -> Removed:
        """An operator lets the bodies of old calls go; the chain still verifies, and the act is part of it."""
        await require_operator(self._parts, by, wanted="bodies_removed")
        removal = Removal(before=self._cutoff(), by=by, at=self._parts.now())
        return Removed(before=removal.before, bodies=await self._parts.store.remove_bodies(removal))

    def _cutoff(self) -> datetime:
        return cutoff(now=self._parts.now(), retention=self._parts.rulings.retention)

    async def last(self, count: int) -> list[dict[str, Any]]:
        """The newest events, oldest first."""
        start = await self._parts.store.position(back=count)
        return [link_document(link) async for _, link in self._parts.store.links(after=start)]

    async def follow(self, *, last: int = 0) -> AsyncIterator[dict[str, Any]]:
        """The newest events and then, without a gap, those of every process as they are kept; ends with the caller."""
        position = await self._parts.store.position(back=last)
        wait = _SHORTEST_WAIT
        while True:
            before = position
            async for at, link in self._parts.store.links(after=before):
                position = at
                yield link_document(link)
            wait = _SHORTEST_WAIT if position != before else min(wait * 2, _LONGEST_WAIT)
            await self._parts.store.news(at_most=wait)


def link_document(link: Link) -> dict[str, Any]:
    """An event as a reader gets it; `body` is null once retention has removed it."""
    return {**vars(link), "body": None if link.body is None else json.loads(link.body), "body_text": link.body}
