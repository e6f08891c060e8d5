"""Calls, requests and votes for tests of a store, and the short words that move them about.

Takes: a store.  Gives: samples that fit its rules.  Never: looks beneath the protocols.
"""
# ruff: noqa: S101

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol, TypeAlias

import pytest

from ringfence import Network, tool
from ringfence.approvals.inbox import Approval, ApprovalStatus, Inbox, Vote
from ringfence.approvals.standing import Grants
from ringfence.approvals.warrant import Warrant
from ringfence.audit.events import AuditEvent, event
from ringfence.audit.trail import Trail
from ringfence.contract.tool import Tool
from ringfence.errors import CallRefused, RingfenceError
from ringfence.execution.storage import KeyValue
from ringfence.registry.pins import Offered
from ringfence.registry.registry import Registry, register
from ringfence.runtime.freezing import Freezes
from ringfence.runtime.invocation import Ending, Invocation, Journal, Status, Voided, Workers
from ringfence.runtime.ledger import PinBook

START = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Store(Journal, Workers, Inbox, Trail, PinBook, Grants, Freezes, Protocol):
    """A whole store: the protocols of the stages, and what assembly needs beside them."""

    @property
    def storage(self) -> KeyValue: ...

    async def record_registrations(
        self, registry: Registry, *, events: Sequence[AuditEvent], tell: Callable[[Voided], AuditEvent] | None = None
    ) -> None: ...

    async def open_session(self, session_id: str, *, agent: str, binding: str | None, user: str | None) -> None: ...

    async def expire_due(
        self, now: datetime, *, tell: Callable[[Approval], Iterable[AuditEvent]]
    ) -> tuple[Approval, ...]: ...


OpenStore: TypeAlias = Callable[[], Awaitable[Store]]


@dataclass
class Clock:
    """A clock that moves when told."""

    at: datetime = START

    def __call__(self) -> datetime:
        return self.at


@tool(safety="read")
def look(x: int) -> int:
    """Look at one thing."""
    return x


@tool(safety="network", egress="write", idempotency="required", needs=[Network("api.example.com")])
def send(x: int) -> int:
    """Send one thing away."""
    return x


def offered(contract: Tool, *, source_digest: str = "sha256:code", accepted_by: str | None = "alice") -> Offered:
    return Offered(tool=contract, source="code", source_digest=source_digest, accepted_by=accepted_by)


async def furnish(store: Store) -> None:
    """Register the two tools that the suite calls."""
    registry = register([offered(look), offered(send)], ledger=await store.ledger())
    await store.record_registrations(registry, events=[noted("furnished")])


def noted(what: str) -> AuditEvent:
    return event("security_event", at=START, body={"what": what, "detail": None})


def call(id_: str, contract: Tool | None = look, **changes: Any) -> Invocation:
    plain = Invocation(
        id=id_,
        session="s-1",
        agent="ana",
        binding=None,
        user="alice",
        proposers=("alice", "carol"),
        tool=contract.name if contract else "nothing",
        fingerprint=contract.fingerprint if contract else None,
        source_digest="sha256:code",
        arguments='{"x":1}',
        arguments_digest="sha256:args",
        idempotency_key="key-" + id_,
        proposed_at=START,
    )
    return replace(plain, **changes)


def request(invocation: Invocation, *, votes_needed: int = 1) -> Approval:
    return Approval(
        id="a-" + invocation.id,
        invocation_id=invocation.id,
        status=ApprovalStatus.PENDING,
        digest="sha256:card-" + invocation.id,
        card={"arguments": invocation.arguments, "note": "ünïcode"},
        votes_needed=votes_needed,
        group="treasury",
        proposers=invocation.proposers,
        expires_at=START + timedelta(hours=24),
    )


def vote(approval: Approval, voter: str, decision: Literal["approve", "reject"] = "approve", **changes: Any) -> Vote:
    reason = "too dear" if decision == "reject" else None
    plain = Vote(
        approval_id=approval.id,
        digest=approval.digest,
        voter=voter,
        decision=decision,
        reason=reason,
        door="cli",
        at=START,
    )
    return replace(plain, **changes)


def allowed(invocation: Invocation) -> Warrant:
    return Warrant(invocation_id=invocation.id, basis="allowed", approval_id=None, digest="sha256:any")


def by_votes(approval: Approval) -> Warrant:
    return Warrant(invocation_id=approval.invocation_id, basis="votes", approval_id=approval.id, digest=approval.digest)


def ended(status: Literal[Status.COMPLETED, Status.FAILED, Status.IN_DOUBT] = Status.COMPLETED) -> Ending:
    return Ending(status=status, code=None, outcome={"output": [1, "zwei"]}, cost_estimate="0.01")


def told(status: ApprovalStatus) -> list[AuditEvent]:
    return [noted(f"vote: {status}")]


async def ask(store: Store, invocation: Invocation, *, votes_needed: int = 1) -> Approval:
    approval = request(invocation, votes_needed=votes_needed)
    await store.ask(invocation, approval=approval, events=[noted("asked")])
    return approval


async def queue(store: Store, invocation: Invocation) -> Approval:
    approval = await ask(store, invocation)
    return await store.cast(vote(approval, "dan"), tell=told)


async def status_of(store: Store, id_: str) -> Status:
    recorded = await store.recorded(id_)
    assert recorded is not None
    return recorded.status


async def whats(store: Store) -> list[str]:
    """What the trail was told, in order."""
    return [each.body or "" async for _, each in store.links()]


async def refusal(attempt: Awaitable[Any], kind: type[RingfenceError] = CallRefused) -> str:
    """The code with which an attempt is refused."""
    with pytest.raises(kind) as caught:
        await attempt
    return caught.value.code
