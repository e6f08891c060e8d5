"""The trail as a reader meets it: proved, followed, exported.

Takes: nothing but the store.  Gives: reports and events.  Never: changes a row.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from ringfence.audit.chain import Link
from ringfence.audit.verify import Report
from ringfence.runtime.parts import Parts

_SHORTEST_WAIT, _LONGEST_WAIT = 0.02, 1.0


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

    async def last(self, count: int) -> list[dict[str, Any]]:
        """The newest events, oldest first."""
        end = await self._parts.store.position()
        return [link_document(link) async for _, link in self._parts.store.links(after=max(0, end - count))]

    async def follow(self) -> AsyncIterator[dict[str, Any]]:
        """Events as they are kept, by whichever process; ends when the caller stops listening."""
        position = await self._parts.store.position()
        wait = _SHORTEST_WAIT
        while True:
            before = position
            async for at, link in self._parts.store.links(after=before):
                position = at
                yield link_document(link)
            wait = _SHORTEST_WAIT if position != before else min(wait * 2, _LONGEST_WAIT)
            await asyncio.sleep(wait)


def link_document(link: Link) -> dict[str, Any]:
    """An event as a reader gets it; `body` is null once retention has removed it."""
    return {**vars(link), "body": None if link.body is None else json.loads(link.body), "body_text": link.body}
