"""Keeps whose conversation a session is.

Takes: a session's id, agent, binding and user.  Gives: nothing but the promise that they stay together.
Never: lets a known id be used for another agent, binding or user.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ringfence.errors import Misuse
from ringfence.store.engine import Engine, Transaction
from ringfence.store.rows import stamp


class KeptSessions:
    """Sessions over either database."""

    def __init__(self, database: Engine, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    async def open_session(self, session_id: str, *, agent: str, binding: str | None, user: str | None) -> None:
        """Put a new session on record, or see that it is the one on record."""
        at = stamp(self._now())
        given = (agent, binding, user)
        kept = await self._database.read(lambda transaction: transaction.run("session", session_id).fetchone())

        def work(transaction: Transaction) -> tuple[str, str | None, str | None]:
            transaction.run("open_session", session_id, *given, at)
            kept: tuple[str, str | None, str | None] = transaction.run("session", session_id).fetchone()
            return kept

        if (kept or await self._database.write(work, durability="normal")) != given:
            raise Misuse(f"session `{session_id}` belongs to another agent, binding or user")
