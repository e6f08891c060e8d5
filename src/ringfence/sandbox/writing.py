"""Who writes where: each call's granted folders are looked at before and after it, and calls that overlap say so.

Takes: the granted places of a call.  Gives: what was written there, for the effects.  Never: looks where nothing may be
written, or claims to know all while another call could write to the same folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from ringfence.inside.layout import WORKSPACE, Granted
from ringfence.sandbox.listing import changes, look


@dataclass(eq=False, kw_only=True)
class Written:
    """One call's writing; `document` is there once the call is over, if it could write at all."""

    places: Sequence[tuple[str, str]]
    alone: bool = True
    document: dict[str, Any] | None = field(default=None)

    def meets(self, other: Written) -> bool:
        return any(_overlap(one, theirs) for _, one in self.places for _, theirs in other.places)


class Writes:
    """The calls under way that may write."""

    def __init__(self) -> None:
        self._open: set[Written] = set()

    @asynccontextmanager
    async def watched(self, granted: Sequence[Granted]) -> AsyncGenerator[Written, None]:
        """Look before and after what happens within."""
        mine = Written(places=[(_shown(each.path), each.source) for each in granted if each.access == "write"])
        if not mine.places:
            yield mine
            return
        for other in filter(mine.meets, self._open):
            mine.alone = other.alone = False
        self._open.add(mine)
        try:
            before = await asyncio.to_thread(look, mine.places)
            yield mine
            after = await asyncio.to_thread(look, mine.places)
            mine.document = changes(before, after, alone=mine.alone)
        finally:
            self._open.discard(mine)


def _shown(path: str) -> str:
    """The path as the contract names it: relative to the workspace."""
    return path.removeprefix(WORKSPACE).lstrip("/")


def _overlap(one: str, other: str) -> bool:
    mine, theirs = PurePosixPath(one), PurePosixPath(other)
    return mine.is_relative_to(theirs) or theirs.is_relative_to(mine)
