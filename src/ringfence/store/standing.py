"""Keeps standing grants: who signed what, how often it was used, and when it ended.

Takes: grants, signatures and revocations.  Gives: grants as they stand.
Never: consumes a use; the journal does, in the transaction that starts the call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from ringfence.approvals.standing import Bounds, Ended, StandingGrant
from ringfence.audit.chain import spell
from ringfence.audit.events import AuditEvent
from ringfence.errors import Misuse
from ringfence.store.engine import Engine, Transaction
from ringfence.store.rows import stamp


class KeptGrants:
    """The `Grants` over either database."""

    def __init__(self, database: Engine, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    async def give(self, grant: StandingGrant, *, events: Sequence[AuditEvent]) -> None:
        def work(transaction: Transaction) -> None:
            transaction.run("give_grant", *_row(grant))
            for operator in grant.signed_by:
                transaction.run("sign_grant", grant.id, operator, grant.digest, stamp(grant.bounds.given_at))
            transaction.record(events)

        await self._database.write(work, durability="full", role="operator")

    async def sign(self, grant_id: str, *, operator: str, digest: str, events: Sequence[AuditEvent]) -> None:
        at = stamp(self._now())

        def work(transaction: Transaction) -> None:
            transaction.run("sign_grant", grant_id, operator, digest, at)
            transaction.record(events)

        await self._database.write(work, durability="full", role="operator")

    async def revoke(self, grant_id: str, *, ended: Ended, events: Sequence[AuditEvent]) -> None:
        def work(transaction: Transaction) -> None:
            if transaction.run("end_grant", grant_id, stamp(ended.at), ended.by, ended.why).rowcount != 1:
                raise Misuse(f"there is no standing grant `{grant_id}`")
            transaction.record(events)

        await self._database.write(work, durability="full", role="operator")

    async def standing_grant(self, grant_id: str) -> StandingGrant | None:
        found = await self._database.read(lambda transaction: _grants(transaction, "standing_grant", grant_id))
        return found[0] if found else None

    async def standing_grants(self) -> tuple[StandingGrant, ...]:
        return await self._database.read(lambda transaction: _grants(transaction, "standing_grants"))

    async def open_grants(self, *, agent: str, tool: str) -> tuple[StandingGrant, ...]:
        at = stamp(self._now())
        return await self._database.read(lambda transaction: _grants(transaction, "open_grants", agent, tool, at))


def _grants(transaction: Transaction, name: str, *parameters: Any) -> tuple[StandingGrant, ...]:
    return tuple(_grant_from(row) for row in transaction.run(name, *parameters))


def _row(grant: StandingGrant) -> tuple[Any, ...]:
    bounds = grant.bounds
    return (
        grant.id,
        bounds.agent,
        bounds.tool,
        bounds.fingerprint,
        bounds.source_digest,
        spell(dict(bounds.when)),
        spell(list(bounds.answers)),
        bounds.max_uses,
        bounds.because,
        grant.digest,
        stamp(bounds.given_at),
        stamp(bounds.expires_at),
    )


def _grant_from(row: tuple[Any, ...]) -> StandingGrant:
    id_, agent, tool, fingerprint, source, when, answers, max_uses, because, _, given_at, expires_at, *rest = row
    ended_at, ended_by, ended_why, safety, signed_by, uses = rest
    return StandingGrant(
        id=id_,
        bounds=Bounds(
            agent=agent,
            tool=tool,
            fingerprint=fingerprint,
            source_digest=source,
            when=json.loads(when),
            answers=tuple(json.loads(answers)),
            max_uses=max_uses,
            given_at=datetime.fromisoformat(given_at),
            expires_at=datetime.fromisoformat(expires_at),
            because=because,
        ),
        safety=safety,
        signed_by=tuple(json.loads(signed_by)),
        uses=uses,
        ended=ended_at and Ended(at=datetime.fromisoformat(ended_at), by=ended_by, why=ended_why),
    )
