"""The runtime as its embedder holds it: sessions, approvals, the trail, and what each agent can do.

Takes: assembled parts.  Gives: the public handles.  Never: decides; every answer comes from a stage.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from ringfence.agents.acting import require_binding
from ringfence.registry.registry import RegisteredTool
from ringfence.runtime.approvals import Approvals
from ringfence.runtime.audit import Audit
from ringfence.runtime.calls import Calls
from ringfence.runtime.case import new_id
from ringfence.runtime.explaining import Explanation, explained
from ringfence.runtime.freezes import StopButton
from ringfence.runtime.grants import StandingGrants
from ringfence.runtime.invocation import Recorded
from ringfence.runtime.parts import Parts
from ringfence.runtime.pins import PinDesk
from ringfence.runtime.pipeline import Pipeline
from ringfence.runtime.request import Identity, asked
from ringfence.runtime.session import Session
from ringfence.runtime.status import AgentStatus, agent_status
from ringfence.runtime.welcome import Welcome


class Runtime:
    """Everything an embedder can do; made by `ringfence.assembly.open_runtime`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.loop = asyncio.get_running_loop()
        self._pipeline = Pipeline(parts)
        self._welcome = Welcome(parts)
        self.approvals = Approvals(parts)
        self.audit = Audit(parts)
        self.grants = StandingGrants(parts)
        self.freezes = StopButton(parts)
        self.pins = PinDesk(parts)
        self.calls = Calls(parts)

    def session(
        self,
        *,
        agent: str,
        binding: str | None = None,
        user: str | None = None,
        id: str | None = None,
        typed_by: str | None = None,
    ) -> Session:
        """Open a conversation, or continue one by its id. `typed_by` is whoever makes the calls by hand, if anybody."""
        require_binding(self._parts.agent(agent), binding)
        identity = Identity(
            session=new_id("ses") if id is None else id, agent=agent, binding=binding, user=user, typed_by=typed_by
        )
        return Session(identity, parts=self._parts, pipeline=self._pipeline, welcome=self._welcome)

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(self._parts.rulings.agents)

    @property
    def tools(self) -> tuple[RegisteredTool, ...]:
        """Every registered tool, whoever can see it; for operators."""
        return tuple(self._parts.registry.tools.values())

    async def recorded(self, invocation_id: str) -> Recorded | None:
        """One call as the journal remembers it; for operators."""
        return await self._parts.store.recorded(invocation_id)

    async def status(self, agent: str, *, binding: str | None = None) -> AgentStatus:
        """What this agent can do, what is stopped and granted, and for every tool that it cannot see, why."""
        await self._parts.board.refresh()
        return await agent_status(self._parts.view(self._parts.agent(agent).name, binding), parts=self._parts)

    async def explain(
        self,
        agent: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        binding: str | None = None,
        user: str | None = None,
    ) -> Explanation:
        """The decision about a call, with every reason, and nothing run, asked or recorded."""
        identity = Identity(session="explain", agent=agent, binding=binding, user=user, typed_by=None)
        return await explained(self._pipeline, asked(identity, tool, arguments, turn="0"), parts=self._parts)

    def events(self) -> AsyncIterator[dict[str, Any]]:
        """Everything that is put on record from now on, as it is."""
        return self.audit.follow()
