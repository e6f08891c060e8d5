"""What an operator should know of a call besides how it ended: what the host refused it, where a secret showed.

Takes: a call and what the host measured of it.  Gives: events for the trail.  Never: decides or repeats content.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ringfence.audit.events import AuditEvent
from ringfence.execution.sandbox import RawOutput
from ringfence.runtime.case import Case
from ringfence.sanitise import visible

# Where the far side is down or a program broke off there is nothing that an operator should look into.
_ORDINARY = frozenset({"tool_error"})


def refused_on_the_way(case: Case, raw: RawOutput | None, *, at: datetime) -> Iterator[AuditEvent]:
    """One event for all that the edge refused to this call, and one for storage."""
    if raw is None:
        return
    if raw.evidence.get("scrubbed"):
        yield _scrubbed(case, raw.evidence["scrubbed"], at=at)
    if raw.effects.storage is not None:
        yield from _refused_by_storage(case, raw.effects.storage, at=at)
    if raw.effects.network is not None:
        yield from _refused_by_edge(case, raw.effects.network, at=at)


def withheld_from(case: Case, *, at: datetime) -> Iterator[AuditEvent]:
    """A model passed the value of a secret; which one, only the trail says."""
    if case.withheld:
        yield case.event("security_event", {"what": "secret_in_arguments", "detail": list(case.withheld)}, at=at)


def _refused_by_edge(case: Case, network: dict[str, Any], *, at: datetime) -> Iterator[AuditEvent]:
    grave = [refusal for refusal in network.get("refusals", ()) if refusal["code"] not in _ORDINARY]
    if grave:
        detail = [f"{refusal['code']}: {visible(refusal['reason'])}" for refusal in grave]
        yield case.event("security_event", {"what": "network_refusal", "detail": detail}, at=at)


def _refused_by_storage(case: Case, storage: dict[str, Any], *, at: datetime) -> Iterator[AuditEvent]:
    grave = [refusal for refusal in storage.get("refusals", ()) if refusal["weight"] == "grave"]
    if grave:
        detail = [f"{refusal['code']}: {refusal['reason']}" for refusal in grave]
        yield case.event("security_event", {"what": "storage_refusal", "detail": detail}, at=at)


def _scrubbed(case: Case, found: dict[str, int], *, at: datetime) -> AuditEvent:
    detail = [f"{name}: {times}" for name, times in found.items()]
    return case.event("security_event", {"what": "secret_scrubbed", "detail": detail}, at=at)
