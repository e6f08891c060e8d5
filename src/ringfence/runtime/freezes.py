"""The stop button as an operator meets it.

Takes: an operator's word and a scope.  Gives: the freeze on record, with running calls of this process ended.
Never: takes the word of anybody who is not an operator, and never freezes a name that nothing has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringfence.approvals.inbox import Approval
from ringfence.audit.events import AuditEvent, event
from ringfence.errors import Misuse
from ringfence.runtime.case import new_id
from ringfence.runtime.freezing import Freeze, Scope
from ringfence.runtime.grants import said
from ringfence.runtime.operators import require_operator
from ringfence.runtime.parts import Parts
from ringfence.sanitise import visible

NO_REASON = "no reason given"


@dataclass(frozen=True, kw_only=True)
class Frozen:
    """A freeze in force, the calls whose requests it voided, and how many calls of this process it ended."""

    freeze: Freeze
    void: tuple[str, ...]
    ended_here: int


class StopButton:
    """Freezes and unfreezes, for every process that shares the store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def list(self) -> list[Freeze]:
        """Every freeze in force, oldest first."""
        return [*await self._parts.store.freezes()]

    async def freeze(
        self, *, by: str, agent: str | None = None, tool: str | None = None, because: str = NO_REASON
    ) -> Frozen:
        """Stop one agent, one tool, or everything: nothing starts, what waits is void, what runs is ended."""
        await require_operator(self._parts, by, wanted="frozen")
        scope = Scope(agent=agent, tool=tool)
        await self._require_known(scope)
        freeze = Freeze(id=new_id("frz"), scope=scope, by=by, because=said(because), at=self._parts.now())
        void = await self._parts.store.freeze(freeze, tell=lambda waiting: _frozen(freeze, waiting))
        ended = self._parts.running.stop([freeze])
        return Frozen(freeze=freeze, void=tuple(each.invocation_id for each in void), ended_here=ended)

    async def unfreeze(self, *, by: str, agent: str | None = None, tool: str | None = None) -> int:
        """Let calls start again where exactly this was frozen; what was voided or ended stays so."""
        await require_operator(self._parts, by, wanted="unfrozen")
        scope = Scope(agent=agent, tool=tool)
        if not any(each.scope == scope for each in await self.list()):
            raise Misuse(f"{scope} is not frozen", remedy="`ringfence freeze --list` shows what is")

        def tell(lifted: int) -> list[AuditEvent]:
            body = {"scope": scope.document(), "by": by, "lifted": lifted}
            return [event("unfrozen", at=self._parts.now(), body=body, agent=agent, tool=tool)]

        return await self._parts.store.unfreeze(scope, by=by, tell=tell)

    async def _require_known(self, scope: Scope) -> None:
        """A name misspelt in a hurry must not look like a freeze."""
        if scope.agent is not None:
            self._parts.agent(scope.agent)
        if scope.tool is not None and not await self._parts.store.knows_tool(scope.tool):
            raise Misuse(
                f"there is no tool `{visible(scope.tool)}`",
                remedy="`ringfence tools list` shows them; `ringfence freeze` stops everything",
            )


def _frozen(freeze: Freeze, waiting: Sequence[Approval]) -> list[AuditEvent]:
    """The freeze, and the end of every request that it voids."""
    scope = freeze.scope
    body = {
        "freeze_id": freeze.id,
        "scope": scope.document(),
        "by": freeze.by,
        "because": freeze.because,
        "void": [each.invocation_id for each in waiting],
    }
    first = event("frozen", at=freeze.at, body=body, agent=scope.agent, tool=scope.tool)
    return [first, *(_voided(each, by=freeze) for each in waiting)]


def _voided(approval: Approval, *, by: Freeze) -> AuditEvent:
    card = approval.card
    return event(
        "approval_resolved",
        at=by.at,
        body={"approval_id": approval.id, "status": "void", "by": by.by},
        agent=card.get("agent"),
        tool=card.get("tool", "unknown"),
        safety=card.get("safety"),
        invocation_id=approval.invocation_id,
    )
