"""Waiting for a thread, so that a cancellation meets a move that is made or undone, never one under way.

Takes: what was handed to a thread.  Gives: its result.  Never: leaves it behind.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TypeVar

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
