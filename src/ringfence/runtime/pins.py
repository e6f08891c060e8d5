"""Pins as an operator meets them: what is accepted, what differs from it, and one word to accept the difference.

Takes: an operator's word on differences that were shown.  Gives: pins moved, on record.
Never: accepts for somebody without the role, what failed the gate, or anything but what was shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ringfence.audit.events import AuditEvent, event
from ringfence.contract.fingerprint import digest
from ringfence.errors import DeclarationRefused, Misuse
from ringfence.registry.diff import Contracts, Difference, differences
from ringfence.registry.pins import CodeChange, Ledger, Pin, Sighting, Trust, quarantine
from ringfence.runtime.invocation import Voided
from ringfence.runtime.ledger import Acceptance
from ringfence.runtime.operators import require_operator
from ringfence.runtime.parts import Parts
from ringfence.sanitise import visible


@dataclass(frozen=True, kw_only=True)
class Pinned:
    """One pin, and whether what it names is in use."""

    pin: Pin
    quarantine: str | None

    def document(self) -> dict[str, Any]:
        pin = self.pin
        return {
            "source": pin.source,
            "tool": pin.tool,
            "trust": pin.trust.value,
            "quarantine": self.quarantine,
            "fingerprint": pin.fingerprint,
            "source_digest": pin.source_digest,
        }


class PinDesk:
    """What every process that shares the store has seen of every source."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def list(self) -> list[Pinned]:
        """Every pin in force, and every tool that waits for one, by source and tool."""
        ledger = await self._parts.store.ledger()
        code = self._parts.board.code
        found = [_pinned(pin, ledger=ledger, code=code) for pin in ledger.pins.values() if not pin.retired]
        return sorted(found, key=lambda each: (each.pin.source, each.pin.tool))

    async def diff(self) -> tuple[Difference, ...]:
        """Everything that waits for an operator: new, changed, added, removed and renamed tools."""
        ledger = await self._parts.store.ledger()
        return differences(ledger, contracts=await self._contracts(ledger), code=self._parts.board.code)

    async def accept(self, shown: Sequence[Difference], *, by: str) -> tuple[Difference, ...]:
        """Accept exactly these differences, as `diff` gave them; all of them or none."""
        await require_operator(self._parts, by, wanted="pins_accepted")
        for each in shown:
            _require_acceptable(each)
        if shown:
            records = [record for each in shown for record in (each.pin, each.seen) if record is not None]
            contracts = await self._parts.store.contracts((each.tool, each.fingerprint) for each in records)
            at = self._parts.now()
            events = [told for each in shown for told in _events(each, by=by, at=at, contracts=contracts)]
            acceptances = [one for each in shown for one in _acceptances(each)]
            await self._parts.store.accept(acceptances, by=by, events=events, tell=self._voided)
            await self._parts.board.refresh()
        return tuple(shown)

    async def _contracts(self, ledger: Ledger) -> Contracts:
        pinned = {(pin.tool, pin.fingerprint) for pin in ledger.pins.values()}
        seen = {(each.tool, each.fingerprint) for each in ledger.sightings.values()}
        return await self._parts.store.contracts(pinned | seen)

    def _voided(self, call: Voided) -> AuditEvent:
        return voided(call, at=self._parts.now())


def chosen(found: Iterable[Difference], *, names: Sequence[str]) -> tuple[Difference, ...]:
    """The differences of the named tools or sources; a name that nothing differs under is an error."""
    listed = tuple(found)
    for name in names:
        if not any(name in (each.tool, each.was, each.source) for each in listed):
            raise Misuse(f"nothing differs under `{visible(name)}`", remedy="`ringfence pins diff` lists what does")
    return tuple(each for each in listed if {each.tool, each.was, each.source} & set(names))


def voided(call: Voided, *, at: datetime) -> AuditEvent:
    """A call that waited on a tool that is not what it was."""
    body = {"code": "approval_void", "message": "the tool changed while the call waited"}
    return event(
        "call_void", at=at, body=body, agent=call.agent, tool=call.tool, safety=call.safety,
        invocation_id=call.invocation_id,
    )  # fmt: skip


def _pinned(pin: Pin, *, ledger: Ledger, code: CodeChange) -> Pinned:
    key = (pin.source, pin.tool)
    _, why = quarantine(key, fingerprint=pin.fingerprint, source_digest=pin.source_digest, ledger=ledger, code=code)
    return Pinned(pin=pin, quarantine=why)


def _require_acceptable(each: Difference) -> None:
    if each.kind == "failed_gate":
        raise DeclarationRefused(
            f"`{each.tool}` of {each.source} failed the gate: {'; '.join(each.faults)}",
            remedy="have its source corrected; nobody can accept it as it is",
        )


def _acceptances(each: Difference) -> Iterator[Acceptance]:
    """What moves: a rename retires one pin and makes another."""
    if each.kind in ("removed", "renamed") and each.pin is not None:
        gone, was = each.was or each.tool, each.pin.fingerprint
        yield Acceptance(source=each.source, tool=gone, was=was, fingerprint=None, source_digest=None)
    record = each.seen or each.pin
    if each.kind != "removed" and record is not None:
        was_pinned = each.pin if each.kind != "renamed" else None
        yield Acceptance(
            source=each.source,
            tool=each.tool,
            was=was_pinned.fingerprint if was_pinned else None,
            fingerprint=record.fingerprint,
            source_digest=record.source_digest,
        )


def _events(each: Difference, *, by: str, at: datetime, contracts: Contracts) -> Iterator[AuditEvent]:
    """What the trail is told: a rename is one tool that went and one that came."""
    if each.kind in ("removed", "renamed") and each.pin is not None:
        body: dict[str, Any] = {"fingerprint": each.pin.fingerprint, **_source(each.pin), "accepted_by": by}
        yield _about("tool_retired", each.pin, body=body, at=at, contracts=contracts)
    record = each.seen or each.pin
    if each.kind != "removed" and record is not None:
        description = str(contracts[(record.tool, record.fingerprint)]["description"])
        described = {"description": description, "description_hash": digest(description.encode())}
        body = {"fingerprint": record.fingerprint, **_source(record), **described, "accepted_by": by}
        body["trust"] = Trust.PINNED.value
        yield _about("tool_registered", record, body=body, at=at, contracts=contracts)


def _source(record: Pin | Sighting) -> dict[str, str]:
    return {"source": record.source, "source_digest": record.source_digest}


def _about(
    kind: str, record: Pin | Sighting, *, body: dict[str, Any], at: datetime, contracts: Contracts
) -> AuditEvent:
    safety = contracts[(record.tool, record.fingerprint)]["safety"]
    return event(kind, at=at, body=body, tool=record.tool, safety=safety)
