"""What an operator should know of a call besides how it ended: where the edge refused to go.

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
    """One event for all that the edge refused to this call."""
    network: dict[str, Any] = raw.effects.network if raw is not None and raw.effects.network is not None else {}
    grave = [refusal for refusal in network.get("refusals", ()) if refusal["code"] not in _ORDINARY]
    if grave:
        detail = [f"{refusal['code']}: {visible(refusal['reason'])}" for refusal in grave]
        yield case.event("security_event", {"what": "network_refusal", "detail": detail}, at=at)
