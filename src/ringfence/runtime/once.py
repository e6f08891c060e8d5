"""What has happened under a key does not happen again: it is told again, or waited for, or a person's to settle.

Takes: a case whose arguments are known.  Gives: the outcome on record, or nothing where the call is new.
Never: starts the call itself; that one of two gets to start is the store's word.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from ringfence.errors import CallRefused
from ringfence.runtime.case import Case
from ringfence.runtime.invocation import Recorded, Reserved, Status
from ringfence.runtime.outcome import Outcome
from ringfence.runtime.parts import Parts
from ringfence.runtime.remembering import remembered

# Asks the tool itself how a call in doubt ended; gives the call as it then stands.
Reconcile: TypeAlias = Callable[[Case, Recorded], Awaitable[Recorded]]

# How long a caller is kept waiting for another's call under the same key, before it is told to come back.
WAIT_SECONDS = 5.0
_SHORTEST, _LONGEST = 0.01, 0.2


def is_keyed(case: Case) -> bool:
    """Whether the key of this call stands for one effect: something changes, or the caller says so by giving a key."""
    return case.known_tool.tool.consequential or case.request.idempotency_key is not None


async def told_again(parts: Parts, case: Case, *, reconcile: Reconcile) -> Outcome | None:
    """What there is to say of this key without starting the call again; nothing where it is free."""
    if case.resumed is not None or not is_keyed(case):
        return None
    reserved = await _ended(parts, case)
    if reserved is None or reserved.is_free(parts.now()):
        return None
    if reserved.arguments_digest != case.known_call.digest:
        raise CallRefused("the key was used with other arguments", code="idempotency_conflict")
    recorded = reserved.recorded
    if recorded.status is Status.IN_DOUBT:
        recorded = await reconcile(case, recorded)
    if recorded.status is Status.FAILED:
        return None
    if recorded.status is Status.IN_DOUBT:
        message = f"call `{recorded.invocation.id}` under this key may or may not have taken effect"
        raise CallRefused(message, code="in_doubt")
    if recorded.status is not Status.COMPLETED:
        raise CallRefused("a call with this key is still running", code="in_flight")
    body = {"of": recorded.invocation.id, "idempotency_key": case.idempotency_key}
    await parts.store.append([case.event("call_repeated", body, at=parts.now())])
    return remembered(recorded)


async def _ended(parts: Parts, case: Case) -> Reserved | None:
    """Who has the key, once that call has ended or the wait is over."""
    loop = asyncio.get_running_loop()
    until, pause = loop.time() + WAIT_SECONDS, _SHORTEST
    while True:
        found = await parts.store.reserved(agent=case.agent.name, tool=case.known_tool.name, key=case.idempotency_key)
        other = found is not None and found.arguments_digest != case.known_call.digest
        if found is None or other or found.recorded.status is not Status.RUNNING or loop.time() >= until:
            return found
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST)
