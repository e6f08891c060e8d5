"""One conversation of one agent: the only place from which calls are made.

Takes: who acts, settled when the session is opened.  Gives: a view, and outcomes.
Never: lets a call name another agent, binding or user.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ringfence.agents.view import ToolView
from ringfence.errors import CallRefused, Misuse
from ringfence.runtime.approving import rejection, waiting
from ringfence.runtime.case import new_id
from ringfence.runtime.expiring import expire
from ringfence.runtime.invocation import Recorded, Status
from ringfence.runtime.outcome import Outcome
from ringfence.runtime.parts import Parts
from ringfence.runtime.pipeline import Pipeline
from ringfence.runtime.recording import unavailable
from ringfence.runtime.remembering import plain_refusal, remembered
from ringfence.runtime.request import CallRequest, Identity, asked
from ringfence.runtime.welcome import Welcome

_NO_SUCH_CALL = "no such call in this session"
_CALL_ID = re.compile(r"inv_[0-9a-f]{24}")


class Session:
    """A handle on one conversation; the same id continues it in any process."""

    def __init__(self, identity: Identity, *, parts: Parts, pipeline: Pipeline, welcome: Welcome) -> None:
        self._identity = identity
        self._parts = parts
        self._pipeline = pipeline
        self._welcome = welcome
        self._welcomed = False
        self._turn = 0

    @property
    def id(self) -> str:
        return self._identity.session

    @property
    def agent(self) -> str:
        return self._identity.agent

    @property
    def view(self) -> ToolView:
        """What this agent can see here; what is not in it cannot be called."""
        return self._parts.view(self._identity.agent, self._identity.binding)

    def heard(self, text: str) -> None:
        """The user said something: a new turn begins."""
        self._turn += 1

    async def call(self, tool: str, arguments: Mapping[str, Any], *, idempotency_key: str | None = None) -> Outcome:
        """Ask for one call. Whatever the model got wrong is in the outcome; only a caller's mistake raises."""
        return await self._made(self._asked(tool, arguments, idempotency_key))

    async def call_many(self, calls: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Outcome]:
        """The calls of one turn, side by side; outcomes in the order asked."""
        # Every request is read before the first is made: a caller's mistake in one leaves none under way.
        requests = [self._asked(tool, arguments, None) for tool, arguments in calls]
        return list(await asyncio.gather(*map(self._made, requests)))

    async def resume(self, invocation_id: str) -> Outcome:
        """Pick up a call that waited; every stage runs again under the rules of now."""
        if not _CALL_ID.fullmatch(invocation_id):
            return plain_refusal("unknown", CallRefused(_NO_SUCH_CALL, code="approval_void"))
        try:
            return await self._resumed(invocation_id)
        except Misuse:
            raise
        except Exception as error:  # the store cannot say, so nothing runs
            return plain_refusal(invocation_id, unavailable(error))

    async def _resumed(self, invocation_id: str) -> Outcome:
        recorded = await self._parts.store.recorded(invocation_id)
        if recorded is None or not self._is_mine(recorded):
            return plain_refusal(invocation_id, CallRefused(_NO_SUCH_CALL, code="approval_void"))
        await self._enter()
        if recorded.status is Status.QUEUED:
            return await self._pipeline.call(self._request_of(recorded), resumed=recorded)
        return await self._standing(recorded)

    def _asked(self, tool: object, arguments: object, key: str | None) -> CallRequest:
        return asked(self._identity, tool, arguments, turn=str(self._turn), idempotency_key=key)

    async def _made(self, request: CallRequest) -> Outcome:
        try:
            if not self._welcomed:
                await self._enter()
        except Misuse:
            raise
        except Exception as error:  # without a session on record there is no call
            return plain_refusal(new_id("inv"), unavailable(error))
        return await self._pipeline.call(request)

    async def _enter(self) -> None:
        await self._welcome.enter(self._identity)
        self._welcomed = True

    def _is_mine(self, recorded: Recorded) -> bool:
        mine, theirs = self._identity, recorded.invocation
        return (mine.session, mine.agent, mine.binding) == (theirs.session, theirs.agent, theirs.binding)

    def _request_of(self, recorded: Recorded) -> CallRequest:
        invocation = recorded.invocation
        return CallRequest(
            identity=self._identity,
            tool=invocation.tool,
            arguments=recorded.arguments(),
            turn="",
            idempotency_key=None,
        )

    async def _standing(self, recorded: Recorded) -> Outcome:
        """What is to be said of a call that is not ready to run."""
        approval = recorded.approval
        if recorded.status is Status.PENDING and approval is not None:
            if self._parts.now() < approval.expires_at:
                return waiting(approval)
            return plain_refusal(recorded.invocation.id, await expire(self._parts, recorded))
        if recorded.status is Status.REJECTED and approval is not None:
            return plain_refusal(recorded.invocation.id, rejection(approval))
        return remembered(recorded)
