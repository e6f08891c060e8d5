"""One call's life: its states, the moves between them, and what the caller is told.

Takes: facts from the stages.  Gives: `Invocation`, `Outcome`s, and the `Journal` that keeps them.
Never: moves a call in more than one step at a time; each move is one `Journal` call with its events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeAlias

from ringfence.agents.spending import SpendCap
from ringfence.approvals.inbox import Approval
from ringfence.approvals.warrant import Warrant
from ringfence.audit.events import AuditEvent
from ringfence.contract.values import read_canonical
from ringfence.policy.quotas import Draw
from ringfence.policy.spending import Spend

# For how long the result of a call is told again under its key.
KEY_LIFETIME = timedelta(hours=24)


class Status(StrEnum):
    """Where a call stands."""

    PROPOSED = "proposed"
    REFUSED = "refused"
    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"
    REJECTED = "rejected"
    EXPIRED = "expired"
    VOID = "void"
    CANCELLED = "cancelled"


MOVES: dict[Status, frozenset[Status]] = {
    Status.PROPOSED: frozenset({Status.REFUSED, Status.PENDING, Status.QUEUED}),
    Status.PENDING: frozenset({Status.QUEUED, Status.REJECTED, Status.EXPIRED, Status.VOID}),
    Status.QUEUED: frozenset({Status.RUNNING, Status.REFUSED, Status.VOID, Status.CANCELLED}),
    Status.RUNNING: frozenset({Status.COMPLETED, Status.FAILED, Status.IN_DOUBT}),
    Status.IN_DOUBT: frozenset({Status.COMPLETED, Status.FAILED}),
}


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """One request as it is kept. `fingerprint` is empty only where no such tool was found."""

    id: str
    session: str
    agent: str
    binding: str | None
    user: str | None
    proposers: tuple[str, ...]
    tool: str
    fingerprint: str | None
    source_digest: str | None
    arguments: str
    arguments_digest: str
    idempotency_key: str
    proposed_at: datetime


# What a call came to, in billionths, where it took from caps; `nothing` where it never ran.
Spent: TypeAlias = int | Literal["nothing"]


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a started call ended; without a word in `spent`, what it took stays taken."""

    status: Literal[Status.COMPLETED, Status.FAILED, Status.IN_DOUBT]
    code: str | None
    outcome: dict[str, Any]
    cost_estimate: str | None = None
    spent: Spent | None = None


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A call as the journal remembers it."""

    invocation: Invocation
    status: Status
    approval: Approval | None
    code: str | None
    outcome: dict[str, Any] | None

    def arguments(self) -> dict[str, Any]:
        """The arguments as they were recorded: ours, canonical, and parsed anew."""
        parsed: dict[str, Any] = read_canonical(self.invocation.arguments)
        return parsed


@dataclass(frozen=True, kw_only=True)
class Voided:
    """A call that waited and can no longer run, because its tool is not what it was."""

    invocation_id: str
    agent: str
    tool: str
    safety: str


@dataclass(frozen=True, kw_only=True)
class Reserved:
    """Who has a key: the call that was started under it, and until when what it did is told again."""

    recorded: Recorded
    arguments_digest: str
    expires_at: datetime

    def is_free(self, now: datetime) -> bool:
        """Whether the next may have it: its call failed without a trace, or its time is over and nothing is open."""
        status = self.recorded.status
        return status is Status.FAILED or (status is Status.COMPLETED and now >= self.expires_at)


@dataclass(frozen=True, kw_only=True)
class Lost:
    """A call whose process is gone; `consequential` ones may or may not have taken effect."""

    invocation_id: str
    agent: str
    tool: str
    safety: str
    consequential: bool


class Journal(Protocol):
    """Keeps calls. Each method is one transaction: the move, the warrant and the events, or none of them."""

    async def refuse(self, invocation: Invocation, *, code: str, events: Sequence[AuditEvent]) -> None:
        """proposed → refused, or queued → refused."""
        ...

    async def ask(self, invocation: Invocation, *, approval: Approval, events: Sequence[AuditEvent]) -> None:
        """proposed → pending, with the request for votes."""
        ...

    async def start(
        self,
        invocation: Invocation,
        *,
        warrant: Warrant,
        durability: Literal["normal", "full"],
        events: Sequence[AuditEvent],
        key_for: timedelta | None = KEY_LIFETIME,
        draws: Sequence[Draw] = (),
        spends: Sequence[Spend] = (),
    ) -> None:
        """proposed or queued → running, consuming the warrant; `full` means on disk before this returns.

        The key is reserved, every token drawn and every cap taken from in the same transaction; what is not to be had
        is a refusal.

        Whoever is cancelled while it waits here is told so once the move is made or undone, never in between.
        """
        ...

    async def finish(
        self,
        invocation_id: str,
        *,
        ending: Ending,
        durability: Literal["normal", "soon", "full"],
        events: Sequence[AuditEvent],
    ) -> None:
        """running → completed, failed or in doubt; `soon` is on disk shortly after this returns, `full` before."""
        ...

    async def withdraw(
        self,
        invocation_id: str,
        *,
        to: Literal[Status.VOID, Status.EXPIRED, Status.CANCELLED],
        code: str,
        events: Sequence[AuditEvent],
    ) -> None:
        """pending or queued → void, expired or cancelled."""
        ...

    async def settle(
        self,
        invocation_id: str,
        *,
        ending: Ending,
        events: Sequence[AuditEvent],
        role: Literal["operator", "application"] = "operator",
    ) -> None:
        """in doubt → completed or failed, by an operator's word or, as the application, by that of the tool itself."""
        ...

    async def spent(self, caps: Sequence[tuple[str, SpendCap]], *, agent: str) -> tuple[int, ...]:
        """What is taken from each cap now, in billionths; each with the binding that it is of."""
        ...

    async def reserved(self, *, agent: str, tool: str, key: str) -> Reserved | None:
        """Who has this key, if anybody."""
        ...

    async def calls(
        self, *, status: Status | None = None, agent: str | None = None, limit: int
    ) -> tuple[Recorded, ...]:
        """Calls, newest first."""
        ...

    async def recorded(self, invocation_id: str) -> Recorded | None:
        """One call, with its request for votes."""
        ...

    async def latest_like(self, *, session: str, tool: str, arguments_digest: str) -> Recorded | None:
        """The newest call of this session with the same tool and arguments that people were asked about."""
        ...


class Workers(Protocol):
    """Which processes run calls, so that the calls of one that died do not stay open for ever."""

    async def enlist(self, *, until: datetime) -> None:
        """This process is alive until then; to be said again before."""
        ...

    async def end_lost(self, *, tell: Callable[[Lost], tuple[Ending, Sequence[AuditEvent]]]) -> tuple[Lost, ...]:
        """End the calls of processes that are known to be alive no longer."""
        ...
