"""The stop button as a value: what an operator froze, and whether a call lies within it.

Takes: an operator's word.  Gives: a `Freeze`.  Never: is narrower than what was typed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from ringfence.approvals.inbox import Approval
from ringfence.audit.events import AuditEvent
from ringfence.errors import Misuse


@dataclass(frozen=True, kw_only=True)
class Scope:
    """One agent, one tool, or everything."""

    agent: str | None = None
    tool: str | None = None

    def __post_init__(self) -> None:
        if self.agent is not None and self.tool is not None:
            raise Misuse("a freeze is of one agent, of one tool, or of everything")

    def holds(self, *, agent: str, tool: str) -> bool:
        return self.agent in (None, agent) and self.tool in (None, tool)

    def __str__(self) -> str:
        if self.agent is not None:
            return f"agent `{self.agent}`"
        return f"tool `{self.tool}`" if self.tool is not None else "everything"

    def document(self) -> dict[str, Any]:
        return {"agent": self.agent, "tool": self.tool}


@dataclass(frozen=True, kw_only=True)
class Freeze:
    """One freeze as kept; `lifted_at` is empty while it is in force."""

    id: str
    scope: Scope
    by: str
    because: str
    at: datetime
    lifted_at: datetime | None = None
    lifted_by: str | None = None

    def stops(self, *, agent: str, tool: str, started_at: datetime) -> bool:
        """Whether a call that started then must end: also by a freeze that was lifted before anybody looked."""
        before_the_end = self.lifted_at is None or started_at < self.lifted_at
        return before_the_end and self.scope.holds(agent=agent, tool=tool)

    def document(self) -> dict[str, Any]:
        return {
            "id": self.id,
            **self.scope.document(),
            "by": self.by,
            "because": self.because,
            "at": self.at.isoformat(),
        }


class Freezes(Protocol):
    """Where freezes are kept. The journal refuses to ask for or start a call within one."""

    async def freeze(
        self,
        freeze: Freeze,
        *,
        tell: Callable[[Sequence[Approval]], Sequence[AuditEvent]],
    ) -> tuple[Approval, ...]:
        """Put a freeze in force and void every waiting call within it, in one transaction."""
        ...

    async def unfreeze(self, scope: Scope, *, by: str, tell: Callable[[int], Sequence[AuditEvent]]) -> int:
        """Lift every freeze of exactly this scope; gives how many there were."""
        ...

    async def freezes(self, *, since: datetime | None = None) -> tuple[Freeze, ...]:
        """Every freeze in force, and those lifted after `since`."""
        ...

    async def knows_tool(self, name: str) -> bool:
        """Whether a contract of this name was ever registered."""
        ...
