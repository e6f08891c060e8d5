"""Keeps contracts and pins: what was registered, from where, and how far it is trusted.

Takes: a registry, or an operator's word.  Gives: the ledger.  Never: moves a pin to a changed contract by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ringfence.audit.chain import spell
from ringfence.audit.events import AuditEvent
from ringfence.contract.fingerprint import canonical
from ringfence.errors import DeclarationRefused
from ringfence.registry.pins import Change, Key, Ledger, Pin, Sighting, Trust
from ringfence.registry.registry import RegisteredTool, Registration, Registry
from ringfence.runtime.invocation import Voided
from ringfence.runtime.ledger import Acceptance
from ringfence.store.engine import Engine, Transaction
from ringfence.store.rows import stamp

Tell = Callable[[Voided], AuditEvent]


class KeptPins:
    """The `PinBook` over either database."""

    def __init__(self, database: Engine, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    async def pins(self) -> Mapping[Key, Pin]:
        return await self._database.read(_pins)

    async def ledger_version(self) -> int:
        return await self._database.read(_version)

    async def ledger(self) -> Ledger:
        # The version is read first: what changes while the rest is read makes it old, and the ledger is read again.
        return await self._database.read(
            lambda transaction: Ledger(
                version=_version(transaction), pins=_pins(transaction), sightings=_sightings(transaction)
            )
        )

    async def contracts(self, named: Iterable[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
        wanted = tuple(named)

        def work(transaction: Transaction) -> dict[tuple[str, str], dict[str, Any]]:
            rows = ((each, transaction.run("contract", *each).fetchone()) for each in wanted)
            return {each: json.loads(row[0]) for each, row in rows if row is not None}

        return await self._database.read(work)

    async def record_registrations(
        self, registry: Registry, *, events: Sequence[AuditEvent], tell: Tell | None = None
    ) -> None:
        """Keep every admitted contract, what its registration makes of its pin, and the end of calls that waited."""
        at = stamp(self._now())

        def work(transaction: Transaction) -> None:
            for tool in registry.tools.values():
                _keep_tool(transaction, tool, at=at)
            for registration in registry.registrations:
                _keep_pin(transaction, registration, at=at)
            for seen in registry.sightings:
                _see(transaction, seen, at=at)
            for source, tool_name in registry.gone:
                transaction.run("miss", source, tool_name, at)
            transaction.record(events)
            for registration in registry.registrations:
                _void_waiting(transaction, registration, at=at, tell=tell)

        vouched = any(registration.accepted_by is not None for registration in registry.registrations)
        await self._database.write(work, durability="full", role="operator" if vouched else "application")

    async def accept(
        self, acceptances: Sequence[Acceptance], *, by: str, events: Sequence[AuditEvent], tell: Tell
    ) -> None:
        """Move pins to what was shown to an operator; all of them, or none where one is no longer what was shown."""
        at = stamp(self._now())

        def work(transaction: Transaction) -> None:
            for each in acceptances:
                _require_as_shown(transaction, each)
                _accept(transaction, each, by=by, at=at)
                if each.was is not None:
                    kept = each.source_digest if each.was == each.fingerprint else None
                    _void(transaction, (each.tool, each.was, kept), at=at, tell=tell)
            transaction.record(events)

        await self._database.write(work, durability="full", role="operator")


def _version(transaction: Transaction) -> int:
    (version,) = transaction.run("ledger_version").fetchone()
    return int(version)


def _pins(transaction: Transaction) -> dict[Key, Pin]:
    return {
        (source, tool): Pin(
            source=source,
            tool=tool,
            fingerprint=fingerprint,
            source_digest=source_digest,
            trust=Trust(trust),
            retired=bool(retired),
        )
        for source, tool, fingerprint, source_digest, trust, retired in transaction.run("pins")
    }


def _sightings(transaction: Transaction) -> dict[Key, Sighting]:
    return {
        (source, tool): Sighting(
            source=source,
            tool=tool,
            fingerprint=fingerprint,
            source_digest=source_digest,
            faults=tuple(json.loads(faults)),
            presence=presence,
        )
        for source, tool, fingerprint, source_digest, faults, presence in transaction.run("sightings")
    }


def _keep_tool(transaction: Transaction, registered: RegisteredTool, *, at: str) -> None:
    tool = registered.tool
    transaction.run(
        "insert_tool",
        tool.name,
        tool.fingerprint,
        canonical(tool.document()).decode(),
        tool.safety.value,
        tool.egress.value,
        tool.approval,
        tool.description_hash,
        at,
    )


def _keep_pin(transaction: Transaction, registration: Registration, *, at: str) -> None:
    tool, was = registration.tool, registration.was
    if registration.change is Change.DEFINITION or (tool.quarantine and was is not None):
        return
    row = (tool.source, tool.name, tool.fingerprint, tool.source_digest, tool.trust.value, registration.accepted_by, at)
    if was is None:
        transaction.run("insert_pin", *row)
        return
    if was.retired or was.fingerprint != tool.fingerprint:
        moved = transaction.run("move_pin", *row, was.fingerprint)
    else:
        moved = transaction.run("update_pin", *row)
    if moved.rowcount != 1:
        raise _overtaken(tool.name)


def _see(transaction: Transaction, seen: Sighting, *, at: str) -> None:
    transaction.run("unsee", seen.source, seen.tool)
    faults = spell(list(seen.faults))
    transaction.run("see", seen.source, seen.tool, seen.fingerprint, seen.source_digest, faults, seen.presence, at)


def _require_as_shown(transaction: Transaction, each: Acceptance) -> None:
    row = transaction.run("sighting", each.source, each.tool).fetchone()
    if row is None:
        as_shown = each.fingerprint == each.was  # nothing was offered since the pin was made
    else:
        offered = (None, None) if row[2] == "gone" else (row[0], row[1])
        as_shown = offered == (each.fingerprint, each.source_digest)
    if not as_shown:
        raise _overtaken(each.tool)


def _accept(transaction: Transaction, each: Acceptance, *, by: str, at: str) -> None:
    row = (each.source, each.tool, each.fingerprint, each.source_digest, Trust.PINNED.value, by, at)
    if each.fingerprint is None:
        moved = transaction.run("retire_pin", each.source, each.tool, at, by, each.was)
    elif each.was is None:
        revived = transaction.run("revive_pin", *row)
        moved = revived if revived.rowcount else transaction.run("insert_pin", *row)
    else:
        moved = transaction.run("move_pin", *row, each.was)
    if moved.rowcount != 1:
        raise _overtaken(each.tool)


def _void_waiting(transaction: Transaction, registration: Registration, *, at: str, tell: Tell | None) -> None:
    """End the calls that wait for votes, or for their turn, on a contract or on code that is no longer offered."""
    was, tool = registration.was, registration.tool
    if was is not None and tell is not None:
        same = was.fingerprint == tool.fingerprint
        _void(transaction, (tool.name, was.fingerprint, tool.source_digest if same else None), at=at, tell=tell)


def _void(transaction: Transaction, which: tuple[str, str, str | None], *, at: str, tell: Tell) -> None:
    tool = which[0]
    for id_, agent, safety in transaction.run("waiting_calls", *which).fetchall():
        if transaction.run("withdraw_request", id_, "void", "approval_void", at).rowcount == 0:
            transaction.run("withdraw_call", id_, "void", "approval_void", at)
        transaction.record([tell(Voided(invocation_id=id_, agent=agent, tool=tool, safety=safety))])


def _overtaken(tool: str) -> DeclarationRefused:
    return DeclarationRefused(
        f"the pin of `{tool}` changed meanwhile",
        code="definition_changed",
        remedy="start again, and review what changed",
    )
