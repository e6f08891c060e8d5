"""The two moves that every call makes, each in one journey to the server.

Takes: moves of an invocation.  Gives: the move on record, or the rule that refused it.
Never: judges less than the long way does: the same triggers see the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from ringfence.approvals.warrant import Warrant
from ringfence.audit.chain import spell
from ringfence.audit.events import AuditEvent
from ringfence.errors import Misuse
from ringfence.policy.quotas import Draw
from ringfence.policy.spending import Spend
from ringfence.runtime.invocation import KEY_LIFETIME, Ending, Invocation
from ringfence.store.engine import Durability
from ringfence.store.journal import KeptJournal
from ringfence.store.postgres.database import PostgresDatabase
from ringfence.store.rows import invocation_row, stamp

_COMMITS: dict[Durability, str] = {"normal": "off", "soon": "off", "full": "on"}


class PostgresJournal(KeptJournal):
    """The `Journal`, with a short way for calls that nobody was asked about."""

    def __init__(self, database: PostgresDatabase, *, now: Callable[[], datetime], worker: str) -> None:
        super().__init__(database, now=now, worker=worker)
        self._server = database

    async def start(
        self,
        invocation: Invocation,
        *,
        warrant: Warrant,
        durability: Durability,
        events: Sequence[AuditEvent],
        key_for: timedelta | None = KEY_LIFETIME,
        draws: Sequence[Draw] = (),
        spends: Sequence[Spend] = (),
    ) -> None:
        plain = warrant.basis == "allowed" and not (warrant.grants or draws or spends)
        now = self._now()
        if plain and events and warrant.invocation_id == invocation.id:
            until = None if key_for is None else stamp(now + key_for)
            facts = (*invocation_row(invocation), warrant.digest, stamp(now), until, self._worker)
            if await self._server.move(
                "start_new_call", _COMMITS[durability], repr(now.timestamp()), *facts, events=events
            ):
                return
        await super().start(
            invocation,
            warrant=warrant,
            durability=durability,
            events=events,
            key_for=key_for,
            draws=draws,
            spends=spends,
        )

    async def finish(
        self, invocation_id: str, *, ending: Ending, durability: Durability, events: Sequence[AuditEvent]
    ) -> None:
        if not events or ending.spent is not None:
            await super().finish(invocation_id, ending=ending, durability=durability, events=events)
            return
        said = (ending.status.value, ending.code, spell(ending.outcome), ending.cost_estimate, stamp(self._now()))
        if not await self._server.move("end_call", _COMMITS[durability], invocation_id, *said, events=events):
            raise Misuse(f"there is no call `{invocation_id}`")
