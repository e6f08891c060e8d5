"""What a tool's storage is: rows of one agent, each in a namespace that is derived from the call and never given.

Takes: a job.  Gives: the namespace that a scope means for it, and the protocol that a store of rows stands behind.
Never: makes a namespace of anything that a jail said but the word for the scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, TypeAlias, get_args

from ringfence.contract.capabilities import Storage
from ringfence.execution.sandbox import Job
from ringfence.inside.storage_wire import MOST_VALUE_BYTES

Scope: TypeAlias = Literal["tool", "session", "agent"]
Trust: TypeAlias = Literal["untrusted", "trusted"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True, kw_only=True)
class Namespace:
    """Whose rows: always of one agent; `owner` is the tool's name, the session's id, or nothing for the agent."""

    agent: str
    scope: Scope
    owner: str


@dataclass(frozen=True, kw_only=True)
class Label:
    """Where a row's content comes from: the call that wrote it last, and how far that can be trusted."""

    tool: str
    invocation_id: str
    trust: Trust = "untrusted"


@dataclass(frozen=True, kw_only=True)
class Row:
    """What is kept under one key: JSON in its one spelling, with its label."""

    value: str
    label: Label
    written_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class StorageQuota:
    """How much may be kept: of one value, of one namespace, and of one agent in all of them."""

    value_bytes: int = 256 * 1024
    rows: int = 10_000
    bytes: int = 16 * 1024 * 1024
    agent_bytes: int = 256 * 1024 * 1024

    def __post_init__(self) -> None:
        if self.value_bytes > MOST_VALUE_BYTES:
            raise ValueError(f"a value of storage has at most {MOST_VALUE_BYTES} bytes")


@dataclass(frozen=True, kw_only=True)
class Writing:
    """How a value is written: by whom, for how long, within which quota, and how surely before the tool hears of it."""

    label: Label
    quota: StorageQuota
    durability: Literal["normal", "full"]
    lasts: timedelta | None = None


class KeyValue(Protocol):
    """Rows by namespace and key. A row whose time is over is not there, whether or not it was removed yet."""

    async def get(self, space: Namespace, key: str) -> Row | None:
        """The row, if there is one."""
        ...

    async def put(self, space: Namespace, key: str, value: str, *, writing: Writing) -> None:
        """Keep a value under a key; `storage_quota` where that would be too much, and then nothing is changed."""
        ...

    async def swap(self, space: Namespace, key: str, *, expected: str, value: str, writing: Writing) -> bool:
        """The same, if what is there is as expected: one of any number of writers gets True. No row is `null`."""
        ...

    async def delete(self, space: Namespace, key: str) -> bool:
        """Remove a row; whether there was one."""
        ...

    async def keys(self, space: Namespace, *, prefix: str, after: str, most: int) -> tuple[str, ...]:
        """Keys that begin so and come later than `after`, in order."""
        ...

    async def drop_expired(self) -> int:
        """Remove the rows whose time is over; gives how many."""
        ...


class Desk(Protocol):
    """Where one call's questions about its rows are answered."""

    async def answer(self, question: bytes) -> bytes:
        """The answer to whatever a jail sent; a refusal is an answer too."""
        ...

    def document(self) -> dict[str, Any]:
        """What was done for this call, in numbers, as the trail keeps it."""
        ...


class Desks(Protocol):
    """What a sandbox asks for a desk."""

    def open(self, job: Job) -> Desk:
        """A desk for one call, within its grant and its warrant."""
        ...


def scopes_of(job: Job) -> tuple[Scope, ...]:
    """The scopes that this call was granted, in the order of its contract."""
    if "storage" not in job.grant.kinds:
        return ()
    return tuple(need.scope for need in job.grant.capabilities if isinstance(need, Storage))


def namespace_of(job: Job, scope: Scope) -> Namespace:
    """Whose rows a scope means for this call."""
    owners: dict[Scope, str] = {"tool": job.tool.name, "session": job.session, "agent": ""}
    return Namespace(agent=job.agent, scope=scope, owner=owners[scope])
