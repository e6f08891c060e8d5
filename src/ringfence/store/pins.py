"""Keeps contracts and pins: what was registered, from where, and how far it is trusted.

Takes: a registry.  Gives: the pins on record.  Never: moves a pin to a changed contract.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from ringfence.audit.events import AuditEvent
from ringfence.contract.fingerprint import canonical, digest
from ringfence.errors import DeclarationRefused
from ringfence.registry.pins import Change, Pin, Trust
from ringfence.registry.registry import RegisteredTool, Registration, Registry
from ringfence.store.database import Database
from ringfence.store.lane import Transaction
from ringfence.store.rows import stamp


class SqlitePins:
    """The `Pins` over SQLite."""

    def __init__(self, database: Database, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    async def pins(self) -> Mapping[tuple[str, str], Pin]:
        return await self._database.read(_pins)

    async def record_registrations(self, registry: Registry, *, events: Sequence[AuditEvent]) -> None:
        """Keep every admitted contract, and what its registration makes of its pin."""
        at = stamp(self._now())

        def work(transaction: Transaction) -> None:
            for tool in registry.tools.values():
                _keep_tool(transaction, tool, at=at)
            for registration in registry.registrations:
                _keep_pin(transaction, registration, at=at)
            transaction.record(events)

        await self._database.write(work, durability="full")


def _pins(transaction: Transaction) -> dict[tuple[str, str], Pin]:
    return {
        (source, tool): Pin(
            source=source, tool=tool, fingerprint=fingerprint, source_digest=source_digest, trust=Trust(trust)
        )
        for source, tool, fingerprint, source_digest, trust in transaction.run("pins")
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
        digest(tool.description.encode()),
        at,
    )


def _keep_pin(transaction: Transaction, registration: Registration, *, at: str) -> None:
    tool = registration.tool
    if registration.change is Change.DEFINITION:
        return
    row = (tool.source, tool.name, tool.fingerprint, tool.source_digest, tool.trust.value, registration.accepted_by, at)
    if registration.was is None:
        transaction.run("insert_pin", *row)
        return
    if registration.was.fingerprint == tool.fingerprint:
        moved = transaction.run("update_pin", *row)
    else:
        moved = transaction.run("repin", *row, registration.was.fingerprint)
    if moved.rowcount != 1:
        raise DeclarationRefused(
            f"the pin of `{tool.name}` changed while it was being registered",
            code="definition_changed",
            remedy="start again, and review what changed",
        )
