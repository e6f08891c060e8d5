"""Silence is refusal: a request that nobody answered in time ends.

Takes: a recorded call whose time is over.  Gives: the refusal, once it is on record.  Never: extends a time.
"""

from __future__ import annotations

from ringfence.audit.events import event
from ringfence.errors import CallRefused, RingfenceError
from ringfence.runtime.invocation import Recorded, Status
from ringfence.runtime.parts import Parts


async def expire(parts: Parts, recorded: Recorded) -> CallRefused:
    """Move a pending call whose time is over to expired, and say so."""
    refusal = CallRefused("nobody approved the call in time", code="approval_expired")
    invocation, approval = recorded.invocation, recorded.approval
    registered = parts.registry.tools.get(invocation.tool)
    resolved = event(
        "approval_resolved",
        at=parts.now(),
        body={"approval_id": approval.id if approval else None, "status": "expired", "by": None},
        agent=invocation.agent,
        tool=invocation.tool,
        safety=registered.safety.value if registered else None,
        invocation_id=invocation.id,
    )
    try:
        await parts.store.withdraw(invocation.id, to=Status.EXPIRED, code=refusal.code, events=[resolved])
    except RingfenceError as lost:
        return CallRefused(lost.message, code=lost.code, remedy=lost.remedy)
    return refusal
