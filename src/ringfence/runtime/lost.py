"""This process says that it lives, and ends the calls of those that do so no longer.

Takes: parts.  Gives: calls of dead processes ended: in doubt where something may have happened.
Never: takes a process for dead before its time is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ringfence.audit.events import AuditEvent, event
from ringfence.errors import CODES
from ringfence.runtime.invocation import Ending, Lost, Status
from ringfence.runtime.outcome import Failed
from ringfence.runtime.parts import Parts

LEASE = timedelta(seconds=30)
RENEW_SECONDS = 5.0

_GONE = "the process that ran the call is gone"


async def renew(parts: Parts) -> None:
    """Alive for another while."""
    await parts.store.enlist(until=parts.now() + LEASE)


async def end_lost(parts: Parts) -> tuple[Lost, ...]:
    """End what dead processes left running."""
    return await parts.store.end_lost(tell=lambda call: _ended(parts, call))


def _ended(parts: Parts, call: Lost) -> tuple[Ending, Sequence[AuditEvent]]:
    code = "in_doubt" if call.consequential else "cancelled"
    message = f"{_GONE}; it may or may not have taken effect" if call.consequential else _GONE
    failed = Failed(invocation_id=call.invocation_id, code=code, message=message, remedy=CODES[code].remedy)
    told = event(
        "tool_failed",
        at=parts.now(),
        body={"code": code, "message": message, "raw": None, "effects": {}, "evidence": {}},
        agent=call.agent,
        tool=call.tool,
        safety=call.safety,
        invocation_id=call.invocation_id,
    )
    if call.consequential:
        return Ending(status=Status.IN_DOUBT, code=code, outcome=failed.as_dict()), [told]
    return Ending(status=Status.FAILED, code=code, outcome=failed.as_dict()), [told]
