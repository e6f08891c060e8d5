"""One connection that the event loop itself waits for: a statement is sent, and its answer taken when it is there.

Takes: a connection on which the short statements are prepared.  Gives: the row that a statement answers with.
Never: blocks, has two statements under way, or lets whoever is cancelled go before its statement was answered.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from typing import TypeAlias

import psycopg
from psycopg import pq
from psycopg.errors import error_from_result

from ringfence.audit.chain import Head
from ringfence.audit.events import AuditEvent
from ringfence.store.postgres.lane import Connection, chained
from ringfence.store.postgres.login import Login
from ringfence.store.queries import queries

# What every call asks; the rest goes through the threads.
SHORT = ("ledger_version", "start_new_call", "end_call")
YES = b"t"
Row: TypeAlias = "list[bytes | None]"
_ROWS = pq.ExecStatus.TUPLES_OK


def prepared(login: Login) -> Connection:
    """A connection that knows the short statements; waits for the server, so not in the loop."""
    connection = login.connect()
    try:
        for name in SHORT:
            result = connection.pgconn.prepare(name.encode(), queries("postgres")[name].encode())
            if result.status != pq.ExecStatus.COMMAND_OK:
                raise error_from_result(result)
    except BaseException:
        connection.close()
        raise
    return connection


class Wire:
    """A connection with a chain of its own, for one statement at a time."""

    def __init__(self, connection: Connection, *, loop: asyncio.AbstractEventLoop) -> None:
        self._connection = connection
        self._server = connection.pgconn
        self._server.nonblocking = 1
        self._socket = self._server.socket
        self._loop = loop
        self._head = Head(writer=secrets.token_hex(16))
        self._under_way = False
        self._waiter: asyncio.Future[None] | None = None
        self._answer: pq.abc.PGresult | None = None
        self._failure: psycopg.Error | None = None
        loop.add_reader(self._socket, self._read)

    @property
    def broken(self) -> bool:
        return self._failure is not None

    async def ask(self, name: str, parameters: Sequence[str | None], *, events: Sequence[AuditEvent] = ()) -> Row:
        """The row that a statement answers with; where it has events and says yes, the chain goes on behind them."""
        head, told = chained(events, head=self._head) if events else (self._head, None)
        self._send(name, parameters if told is None else [*parameters, told])
        cancelled = None
        while self._under_way:
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            except asyncio.CancelledError as error:
                cancelled = error
        row = self._row()
        if told is not None and row[0] == YES:
            self._head = head
        if cancelled is not None:
            raise cancelled
        return row

    def fail(self, error: psycopg.Error) -> None:
        """Nothing is asked here any more."""
        self._failure = error
        self._unwatch()
        self._wake()

    def close(self) -> None:
        self._unwatch()
        self._connection.close()

    def _send(self, name: str, parameters: Sequence[str | None]) -> None:
        if self._failure is not None:
            raise self._failure
        self._answer = None
        words = [None if word is None else word.encode() for word in parameters]
        self._server.send_query_prepared(name.encode(), words)
        self._under_way = True
        if self._server.flush():
            self._loop.add_writer(self._socket, self._write)

    def _row(self) -> Row:
        if self._failure is not None:
            raise self._failure
        answer = self._answer
        if answer is None:
            raise psycopg.OperationalError("the server gave no answer")
        if answer.status != _ROWS:
            raise error_from_result(answer)
        return [answer.get_value(0, column) for column in range(answer.nfields)]

    def _read(self) -> None:
        try:
            self._server.consume_input()
            while not self._server.is_busy():
                result = self._server.get_result()
                if result is None:
                    self._wake()
                    return
                self._answer = result
        except psycopg.Error as error:
            self.fail(error)

    def _write(self) -> None:
        try:
            if not self._server.flush():
                self._loop.remove_writer(self._socket)
        except psycopg.Error as error:
            self.fail(error)

    def _wake(self) -> None:
        self._under_way = False
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _unwatch(self) -> None:
        if not self._loop.is_closed():
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
