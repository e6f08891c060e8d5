"""One connection to PostgreSQL, and the audit chain that only it extends.

Takes: work to do in one transaction.  Gives: its result, once it is committed together with its events.
Never: advances the chain before the commit, and never goes on with a chain whose last commit nobody saw end.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

import psycopg

from ringfence.audit.chain import Head, entry, spell
from ringfence.audit.events import AuditEvent
from ringfence.errors import TrailUnavailable
from ringfence.store.engine import Durability, Role
from ringfence.store.postgres.faults import lost, translated, without_role
from ringfence.store.postgres.login import Login
from ringfence.store.queries import queries

T = TypeVar("T")
Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
_HASH = -2
_ROLES: dict[Role, str] = {
    "application": "",
    "approver": "; SET LOCAL ROLE ringfence_approver",
    "operator": "; SET LOCAL ROLE ringfence_operator",
}
_LATER = "; SET LOCAL synchronous_commit = off"  # the server flushes within a second, by itself
_COMMITS: dict[Durability, str] = {"normal": _LATER, "soon": _LATER, "full": ""}


class PostgresTransaction:
    """What a piece of work may do while its transaction is open: ask named SQL and record events."""

    __slots__ = ("_connection", "_named", "head")

    def __init__(self, connection: Connection, *, head: Head) -> None:
        self._connection = connection
        self._named = queries("postgres")
        self.head = head

    def run(self, name: str, *parameters: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        return self._connection.execute(self._named[name].encode(), parameters or None)

    def record(self, events: Iterable[AuditEvent]) -> None:
        """Chain events to this writer's head and keep them, in one statement."""
        self.head, told = chained(events, head=self.head)
        if told is not None:
            self.run("record_events", told)


def chained(events: Iterable[AuditEvent], *, head: Head) -> tuple[Head, str | None]:
    """Events as the one text that the server takes, and where the chain then ends."""
    rows: list[tuple[Any, ...]] = []
    last = head.hash
    for seq, event in enumerate(events, start=head.seq + 1):
        rows.append(entry(event, writer=head.writer, seq=seq, previous=last))
        last = rows[-1][_HASH]
    if not rows:
        return head, None
    return Head(writer=head.writer, seq=head.seq + len(rows), hash=last), spell(rows)


class PostgresLane:
    """A connection that is made when it is needed, and made anew when it was lost."""

    def __init__(self, login: Login) -> None:
        self._login = login
        self._connection: Connection | None = None
        self._head = Head(writer="")

    @property
    def writer(self) -> str:
        return self._head.writer

    def write(
        self, work: Callable[[PostgresTransaction], T], *, durability: Durability = "full", role: Role = "application"
    ) -> T:
        """Do the work in one transaction, as this role."""
        return self._within(f"BEGIN{_ROLES[role]}{_COMMITS[durability]}", work, role=role)

    def read(self, work: Callable[[PostgresTransaction], T]) -> T:
        """Do work that asks one statement and changes nothing."""
        try:
            connection = self._begun("SELECT 1") if self._connection is None else self._connection
            try:
                return work(PostgresTransaction(connection, head=self._head))
            except psycopg.Error as error:
                if not lost(error):
                    raise
                self.close()
                return work(PostgresTransaction(self._begun("SELECT 1"), head=self._head))
        except psycopg.Error as error:
            raise self._failed(error) from error

    def notify(self) -> None:
        """Wake whoever follows the trail; nobody depends on it."""
        with suppress(psycopg.Error, TrailUnavailable):
            self._begun("NOTIFY ringfence_events")

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _within(self, opening: str, work: Callable[[PostgresTransaction], T], *, role: Role) -> T:
        try:
            connection = self._begun(opening)
        except psycopg.errors.InsufficientPrivilege as error:
            self._undo()
            raise without_role(role) from error
        except psycopg.Error as error:
            raise self._failed(error) from error
        transaction = PostgresTransaction(connection, head=self._head)
        try:
            result = work(transaction)
            connection.execute(b"COMMIT")
        except psycopg.Error as error:
            raise self._failed(error) from error
        except BaseException:
            self._undo()
            raise
        self._head = transaction.head
        return result

    def _begun(self, opening: str) -> Connection:
        """A connection on which this was said; one that was lost while nothing was under way is made anew, once."""
        if self._connection is not None:
            try:
                self._connection.execute(opening.encode())
            except psycopg.Error as error:
                if not lost(error):
                    raise
                self.close()
            else:
                return self._connection
        connection = self._login.connect()
        # A connection of its own is a writer of its own: what became of the last commit of the old one is not known.
        self._connection, self._head = connection, Head(writer=secrets.token_hex(16))
        connection.execute(opening.encode())
        return connection

    def _failed(self, error: psycopg.Error) -> Exception:
        if lost(error):
            self.close()
        else:
            self._undo()
        return translated(error)

    def _undo(self) -> None:
        if self._connection is None:
            return
        try:
            self._connection.execute(b"ROLLBACK")
        except psycopg.Error:
            self.close()
