"""Keeps which processes run calls, and ends the calls of those that are gone.

Takes: this process's word that it lives.  Gives: calls that nobody runs any more, ended.
Never: ends a call of a process that is known to be alive, or of this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from ringfence.audit.events import AuditEvent
from ringfence.runtime.invocation import Ending, Lost
from ringfence.store.engine import Engine, Transaction
from ringfence.store.journal import end
from ringfence.store.rows import stamp


class KeptWorkers:
    """The `Workers` over either database."""

    def __init__(self, database: Engine, *, now: Callable[[], datetime], worker: str) -> None:
        self._database = database
        self._now = now
        self._worker = worker

    async def enlist(self, *, until: datetime) -> None:
        def work(transaction: Transaction) -> None:
            transaction.run("enlist", self._worker, stamp(until))

        await self._database.write(work, durability="normal")

    async def end_lost(self, *, tell: Callable[[Lost], tuple[Ending, Sequence[AuditEvent]]]) -> tuple[Lost, ...]:
        at = stamp(self._now())

        def look(transaction: Transaction) -> list[str]:
            return [id_ for (id_,) in transaction.run("lost_workers", at, self._worker)]

        def work(transaction: Transaction) -> tuple[Lost, ...]:
            gone = [id_ for id_ in look(transaction) if transaction.run("dismiss", id_, at).rowcount == 1]
            lost = [_lost(row) for id_ in gone for row in transaction.run("running_calls", id_).fetchall()]
            for call in lost:
                ending, events = tell(call)
                end(transaction, call.invocation_id, ending, at=at, events=events)
            return tuple(lost)

        # Nearly always everybody is alive, and then nothing need be written.
        return await self._database.write(work, durability="full") if await self._database.read(look) else ()


def _lost(row: tuple[str, str, str, str, object]) -> Lost:
    id_, agent, tool, safety, consequential = row
    return Lost(invocation_id=id_, agent=agent, tool=tool, safety=safety, consequential=bool(consequential))
