"""Where events are kept, as the runtime sees it.

Takes: events.  Gives: a promise that they are kept, or `trail_unavailable`.  Never: drops one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from ringfence.audit.chain import Link
from ringfence.audit.events import AuditEvent
from ringfence.audit.retention import Bodies
from ringfence.audit.verify import Report


class Trail(Bodies, Protocol):
    """An append-only, hash-chained record."""

    async def append(self, events: Sequence[AuditEvent]) -> None:
        """Keep events that belong to no move of a call."""
        ...

    async def checkpoint(self) -> None:
        """Sign where every chain stands, here and at the anchor."""
        ...

    async def verify(self, *, key: str | None = None) -> Report:
        """Prove the trail against the public key of this runtime, whose fingerprint may be given from outside."""
        ...

    async def position(self, *, back: int = 0) -> int:
        """The position of the newest event, or the one after which `back` events are left to read."""
        ...

    async def news(self, *, at_most: float) -> None:
        """Wait until something may have been kept, by whatever process, and no longer than that many seconds."""
        ...

    def links(self, *, after: int = 0, limit: int | None = None) -> AsyncIterator[tuple[int, Link]]:
        """Events in the order they were kept, each with its position."""
        ...

    async def bundle(self, write: Callable[[bytes], object]) -> int:
        """Sign where the trail stands, then hand over all of it, line by line; gives the number of lines."""
        ...
