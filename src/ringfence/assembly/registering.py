"""Registration on record: what was admitted, what changed, and who vouched for it.

Takes: a registry and the time.  Gives: the events that go with it.  Never: judges a contract; the registry did.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ringfence.audit.events import AuditEvent, event
from ringfence.registry.pins import Change, Pin
from ringfence.registry.registry import Registration, Registry, SetChange


def registration_events(registry: Registry, *, at: datetime) -> list[AuditEvent]:
    """One event for every contract that is new, accepted or changed, and one for every source with other tools."""
    sets = [event("source_changed", at=at, body=_set(each)) for each in registry.sets]
    tools = [
        event(each.change.value, at=at, body=_body(each), tool=each.tool.name, safety=each.tool.safety.value)
        for each in registry.registrations
    ]
    return [*sets, *tools]


def _set(change: SetChange) -> dict[str, Any]:
    return {"source": change.source, "added": list(change.added), "removed": list(change.removed)}


def _body(registration: Registration) -> dict[str, Any]:
    tool = registration.tool
    always = {"fingerprint": tool.fingerprint, "source": tool.source, "source_digest": tool.source_digest}
    described = {"description": tool.description, "description_hash": tool.tool.description_hash}
    if registration.change is Change.REGISTERED:
        return {**always, **described, "trust": tool.trust.value, "accepted_by": registration.accepted_by}
    if registration.change is Change.DEFINITION:
        return {**always, **described, "was": _was(registration.was)}
    return {**always, "was": _was(registration.was), "held": tool.quarantine is not None}


def _was(pin: Pin | None) -> dict[str, str] | None:
    return None if pin is None else {"fingerprint": pin.fingerprint, "source_digest": pin.source_digest}
