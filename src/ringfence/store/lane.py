"""One connection that writes, and the audit chain that only it extends.

Takes: work to do in one transaction.  Gives: its result, once it is committed together with its events.
Never: advances the chain before the commit, and never shares it with another connection.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ringfence.audit.chain import Head, entry
from ringfence.audit.events import AuditEvent
from ringfence.store.faults import Busy, is_busy, translated
from ringfence.store.queries import queries

T = TypeVar("T")
_HASH = -2


class Transaction:
    """What a piece of work may do while it holds the database: ask named SQL and record events."""

    __slots__ = ("_connection", "_named", "head")

    def __init__(self, connection: sqlite3.Connection, *, head: Head) -> None:
        self._connection = connection
        self._named = queries("sqlite")
        self.head = head

    def run(self, name: str, *parameters: Any) -> sqlite3.Cursor:
        return self._connection.execute(self._named[name], parameters)

    def record(self, events: Iterable[AuditEvent]) -> None:
        """Chain events to this writer's head and keep them."""
        writer, first, last = self.head.writer, self.head.seq + 1, self.head.hash
        rows: list[tuple[Any, ...]] = []
        for seq, event in enumerate(events, start=first):
            rows.append(entry(event, writer=writer, seq=seq, previous=last))
            last = rows[-1][_HASH]
        if not rows:
            return
        self.head = Head(writer=writer, seq=first + len(rows) - 1, hash=last)
        self._connection.executemany(self._named["insert_event"], rows)


class Lane:
    """A connection with its own chain; whoever finds it in use is told so at once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.commits = 0
        self._head = Head(writer=secrets.token_hex(16))
        self._in_use = threading.Lock()

    @property
    def writer(self) -> str:
        return self._head.writer

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Do the work in one transaction that holds the write lock from its start."""
        if not self._in_use.acquire(blocking=False):
            raise Busy
        try:
            return self._write(work)
        except sqlite3.Error as error:
            raise _fault(error) from error
        finally:
            self._in_use.release()

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Do work that asks one statement and changes nothing."""
        if not self._in_use.acquire(blocking=False):
            raise Busy
        try:
            return work(Transaction(self.connection, head=self._head))
        except sqlite3.Error as error:
            raise _fault(error) from error
        finally:
            self._in_use.release()

    def close(self) -> None:
        with self._in_use:
            self.connection.close()

    def _write(self, work: Callable[[Transaction], T]) -> T:
        self.connection.execute("BEGIN IMMEDIATE")
        transaction = Transaction(self.connection, head=self._head)
        try:
            result = work(transaction)
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise
        self._head = transaction.head
        self.commits += 1
        return result


def _fault(error: sqlite3.Error) -> Exception:
    return Busy() if is_busy(error) else translated(error)
