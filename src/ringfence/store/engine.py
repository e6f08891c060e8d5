"""What the store asks of a database, whichever it is: named statements in transactions, and a chain of events.

Takes: nothing.  Gives: the protocols that SQLite and PostgreSQL stand behind.
Never: knows SQL; each dialect has the same names for its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from ringfence.audit.events import AuditEvent

T = TypeVar("T")
# How sure a move is against a power cut when whoever made it goes on: nobody flushes it; it is flushed behind their
# back; it is on disk. No process that ends, however it ends, loses any of them.
Durability: TypeAlias = Literal["normal", "soon", "full"]

# Who a move is made as. SQLite has one file and no roles; PostgreSQL gives each its own rights.
Role: TypeAlias = Literal["application", "approver", "operator"]


class Rows(Protocol):
    """The answer to one statement."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Reading(Protocol):
    """The store as it stands, asked by named statements."""

    def run(self, name: str, *parameters: Any) -> Rows: ...


class Transaction(Reading, Protocol):
    """What a piece of work may do while it holds the database: ask named SQL and record events."""

    def record(self, events: Iterable[AuditEvent]) -> None:
        """Chain events to this writer's head and keep them."""
        ...


class Lane(Protocol):
    """A connection with its own chain, for work that may take long."""

    def write(self, work: Callable[[Transaction], T]) -> T: ...

    def read(self, work: Callable[[Transaction], T]) -> T: ...


class Engine(Protocol):
    """A database as the store uses it; every method that waits may be cancelled, never in the middle of a move."""

    async def write(self, work: Callable[[Transaction], T], *, durability: Durability, role: Role = "application") -> T:
        """Do work in one transaction; `full` is on disk when this returns, `soon` shortly after."""
        ...

    async def read(self, work: Callable[[Transaction], T]) -> T:
        """Do small work that changes nothing."""
        ...

    async def upkeep(self, work: Callable[[Lane], T], *, role: Role = "application") -> T:
        """Do work that may take long, away from the calls."""
        ...

    def reading(self) -> AbstractContextManager[Reading]:
        """The whole store at one moment, on a connection that can change nothing; blocks, so not in the loop."""
        ...

    async def news(self, *, at_most: float) -> None:
        """Wait until somebody recorded something, or that many seconds."""
        ...

    async def close(self) -> None:
        """Finish what was begun and let the database go."""
        ...
