"""Keeps freezes: putting one in force and voiding what waits within it are one transaction.

Takes: freezes and their lifting.  Gives: those in force.
Never: decides what a freeze holds; the database refuses to ask for or start a call within one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from ringfence.approvals.inbox import Approval, ApprovalStatus
from ringfence.audit.events import AuditEvent
from ringfence.runtime.freezing import Freeze, Scope
from ringfence.store.engine import Engine, Transaction
from ringfence.store.rows import approval_from, stamp

_FROZEN = "frozen"
_NEVER = "9999"


class KeptFreezes:
    """The `Freezes` over either database."""

    def __init__(self, database: Engine, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    async def freeze(
        self, freeze: Freeze, *, tell: Callable[[Sequence[Approval]], Sequence[AuditEvent]]
    ) -> tuple[Approval, ...]:
        at, scope = stamp(freeze.at), freeze.scope

        def work(transaction: Transaction) -> tuple[Approval, ...]:
            transaction.run("freeze", freeze.id, scope.agent, scope.tool, freeze.by, freeze.because, at)
            waiting = tuple(map(approval_from, transaction.run("waiting_in_scope", scope.agent, scope.tool)))
            for approval in waiting:
                transaction.run("resolve", approval.id, ApprovalStatus.VOID.value, _FROZEN, at)
            transaction.record(tell(waiting))
            return waiting

        return await self._database.write(work, durability="full", role="operator")

    async def unfreeze(self, scope: Scope, *, by: str, tell: Callable[[int], Sequence[AuditEvent]]) -> int:
        at = stamp(self._now())

        def work(transaction: Transaction) -> int:
            lifted = transaction.run("unfreeze", scope.agent, scope.tool, at, by).rowcount
            transaction.record(tell(lifted))
            return lifted

        return await self._database.write(work, durability="full", role="operator")

    async def freezes(self, *, since: datetime | None = None) -> tuple[Freeze, ...]:
        after = _NEVER if since is None else stamp(since)
        return await self._database.read(
            lambda transaction: tuple(map(_freeze_from, transaction.run("freezes_since", after)))
        )

    async def knows_tool(self, name: str) -> bool:
        return await self._database.read(
            lambda transaction: transaction.run("tool_on_record", name).fetchone() is not None
        )


def _freeze_from(row: tuple[Any, ...]) -> Freeze:
    id_, agent, tool, by, because, at, lifted_at, lifted_by = row
    return Freeze(
        id=id_,
        scope=Scope(agent=agent, tool=tool),
        by=by,
        because=because,
        at=datetime.fromisoformat(at),
        lifted_at=None if lifted_at is None else datetime.fromisoformat(lifted_at),
        lifted_by=lifted_by,
    )
