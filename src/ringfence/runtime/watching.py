"""Looks at the store at short intervals: ends calls that were frozen elsewhere, calls of processes
that are gone, and requests whose time is over; and says that this process lives.

Takes: parts.  Gives: nothing; what it does is on record.
Never: extends a time, and never stops looking because one look failed.
"""

from __future__ import annotations

import asyncio
import logging
from itertools import count

from ringfence.approvals.inbox import Approval
from ringfence.audit.events import AuditEvent, event
from ringfence.errors import RingfenceError
from ringfence.runtime.lost import RENEW_SECONDS, end_lost, renew
from ringfence.runtime.parts import Parts

# A freeze must be obeyed everywhere within a second; a look costs one small read, and none where nothing runs.
FREEZE_SECONDS = 0.2
LOOKS_PER_SWEEP = 5
LOOKS_PER_LEASE = round(RENEW_SECONDS / FREEZE_SECONDS)

_log = logging.getLogger(__name__)


async def end_frozen(parts: Parts) -> int:
    """End the calls of this process that a freeze holds, whoever gave it; gives how many."""
    since = parts.running.since
    return 0 if since is None else parts.running.stop(await parts.store.freezes(since=since))


async def sweep(parts: Parts) -> tuple[Approval, ...]:
    """End every request whose time is over: silence is refusal."""

    def tell(approval: Approval) -> list[AuditEvent]:
        return [_expired(parts, approval)]

    return await parts.store.expire_due(parts.now(), tell=tell)


async def look(parts: Parts, *, number: int = 0) -> None:
    """One look; a store that cannot be written can still be read, so a failure is for the log."""
    try:
        await end_frozen(parts)
        if number % LOOKS_PER_LEASE == 0:
            await renew(parts)
        if number % LOOKS_PER_SWEEP == 0:
            await sweep(parts)
            await end_lost(parts)
            await parts.store.storage.drop_expired()
    except RingfenceError:
        _log.exception("the store could not be looked at; it is tried again")


async def watch(parts: Parts) -> None:
    """Look again and again, until cancelled."""
    for number in count(1):
        await asyncio.sleep(FREEZE_SECONDS)
        await look(parts, number=number)


def _expired(parts: Parts, approval: Approval) -> AuditEvent:
    card = approval.card
    return event(
        "approval_resolved",
        at=parts.now(),
        body={"approval_id": approval.id, "status": "expired", "by": None},
        agent=card.get("agent"),
        tool=card.get("tool", "unknown"),
        safety=card.get("safety"),
        invocation_id=approval.invocation_id,
    )
