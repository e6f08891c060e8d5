"""What is put on record when an agent first acts: the configuration, the session, and what the agent can see.

Takes: an identity.  Gives: nothing; after it, the session is on record.  Never: records the same thing twice.
"""

from __future__ import annotations

from ringfence.audit.events import AuditEvent, event
from ringfence.runtime.parts import Parts
from ringfence.runtime.request import Identity


class Welcome:
    """Remembers which sessions and views this runtime has put on record."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._entered: set[Identity] = set()
        self._told: set[tuple[str, str | None]] = set()

    async def enter(self, identity: Identity) -> None:
        """Before a session's first call: all that the call will rest on."""
        if identity in self._entered:
            return
        await self._parts.store.open_session(
            identity.session, agent=identity.agent, binding=identity.binding, user=identity.user
        )
        await self._parts.board.refresh()
        events = self._news(identity)
        if events:
            await self._parts.store.append(events)
        self._entered.add(identity)
        self._told.add((identity.agent, identity.binding))

    def _news(self, identity: Identity) -> list[AuditEvent]:
        events = [] if self._told else [self._config_loaded()]
        if (identity.agent, identity.binding) not in self._told:
            events.append(self._view_built(identity))
        return events

    def _config_loaded(self) -> AuditEvent:
        rulings = self._parts.rulings
        body = {
            "config_digest": rulings.config_digest,
            "agents": sorted(rulings.agents),
            "sandbox": self._parts.sandbox.name,
        }
        return event("config_loaded", at=self._parts.now(), body=body)

    def _view_built(self, identity: Identity) -> AuditEvent:
        view = self._parts.view(identity.agent, identity.binding)
        body = {
            "binding": identity.binding,
            "visible": {tool.name: tool.fingerprint for tool in view},
            "hidden": {hidden.tool: hidden.reason for hidden in view.hidden},
        }
        return event("view_built", at=self._parts.now(), body=body, agent=identity.agent)
