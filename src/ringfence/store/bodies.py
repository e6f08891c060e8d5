"""Lets old bodies go: the operator's act, the bodies and the event about it are one transaction.

Takes: a removal.  Gives: how many bodies went.  Never: touches an event, or a body that belongs to no call.
"""

from __future__ import annotations

from datetime import datetime

from ringfence.audit.retention import Removal
from ringfence.store.engine import Engine, Lane, Transaction
from ringfence.store.rows import stamp


class KeptBodies:
    """The `Bodies` over either database."""

    def __init__(self, database: Engine) -> None:
        self._database = database

    async def removable(self, *, before: datetime) -> int:
        def work(transaction: Transaction) -> int:
            (count,) = transaction.run("removable_bodies", stamp(before)).fetchone()
            return int(count)

        return await self._database.upkeep(lambda lane: lane.read(work))

    async def remove_bodies(self, removal: Removal) -> int:
        before, at = stamp(removal.before), stamp(removal.at)

        def work(transaction: Transaction) -> int:
            transaction.run("insert_retention", before, removal.by, at)
            removed = transaction.run("remove_bodies", before).rowcount
            transaction.record([removal.event(removed=removed)])
            return removed

        def removing(lane: Lane) -> int:
            return lane.write(work)

        return await self._database.upkeep(removing, role="operator")
