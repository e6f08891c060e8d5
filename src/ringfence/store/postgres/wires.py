"""The few connections that one event loop asks the short statements on, without a thread between.

Takes: a login, and threads to connect in.  Gives: what a statement answers with.
Never: has more connections than it was given, or goes on with one that was lost.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import psycopg

from ringfence.audit.events import AuditEvent
from ringfence.errors import TrailUnavailable
from ringfence.store.postgres.faults import lost, translated
from ringfence.store.postgres.lane import Connection
from ringfence.store.postgres.login import Login
from ringfence.store.postgres.wire import Row, Wire, prepared
from ringfence.store.settled import settled


class Wires:
    """At most that many connections of one loop, each made when it is needed; the one used last is used next."""

    def __init__(self, login: Login, *, threads: ThreadPoolExecutor, at_most: int) -> None:
        self._login = login
        self._threads = threads
        self._at_most = at_most
        self._open = 0
        self._idle: list[Wire] = []
        # Each is given a wire, or nothing: then there is room for one more.
        self._waiting: deque[asyncio.Future[Wire | None]] = deque()
        self._quiet: asyncio.Future[None] | None = None
        self._closed = False

    async def ask(self, name: str, parameters: Sequence[str | None] = (), *, events: Sequence[AuditEvent] = ()) -> Row:
        """The row that a short statement answers with; one that has events is a transaction of its own.

        It is said once more where the connection was lost: made twice, a move is refused, and nobody runs by it.
        """
        if self._closed:
            raise TrailUnavailable("the store is closed")
        for again in (True, False):
            wire = self._idle.pop() if self._idle else await self._another()
            try:
                return await wire.ask(name, parameters, events=events)
            except psycopg.Error as error:
                if lost(error):
                    # Whatever broke this connection most likely broke those that stood idle as well.
                    wire.fail(error)
                    self.drop()
                if not (again and lost(error)):
                    raise translated(error) from error
            finally:
                self._give_back(wire)
        raise TrailUnavailable("the store cannot be used")

    async def close(self) -> None:
        """Let what was asked be answered, then let go."""
        self._closed = True
        while self._waiting or self._open > len(self._idle):
            self._quiet = asyncio.get_running_loop().create_future()
            await self._quiet
        self.drop()

    def drop(self) -> None:
        """Let go of every connection that is not in use."""
        while self._idle:
            self._idle.pop().close()
            self._open -= 1

    async def _another(self) -> Wire:
        """A new connection, or the next one that somebody gives back."""
        while self._open >= self._at_most:
            waiter: asyncio.Future[Wire | None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                wire = await waiter
            except asyncio.CancelledError:
                self._pass_by(waiter)
                raise
            if wire is not None:
                return wire
        self._open += 1
        try:
            return await self._connected()
        except BaseException:
            self._open -= 1
            self._next(None)
            raise

    def _pass_by(self, waiter: asyncio.Future[Wire | None]) -> None:
        """Whoever stops waiting hands on what it was given meanwhile."""
        if waiter.cancelled():
            self._waiting.remove(waiter)
            return
        wire = waiter.result()
        if wire is None:
            self._next(None)
        else:
            self._give_back(wire)

    def _give_back(self, wire: Wire) -> None:
        if wire.broken:
            wire.close()
            self._open -= 1
            self._next(None)
        elif self._waiting:
            self._next(wire)
        else:
            self._idle.append(wire)
        if self._quiet is not None and not self._quiet.done():
            self._quiet.set_result(None)

    def _next(self, wire: Wire | None) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(wire)
                return
        if wire is not None:
            self._idle.append(wire)

    async def _connected(self) -> Wire:
        loop = asyncio.get_running_loop()
        try:
            opening: asyncio.Future[Connection] = loop.run_in_executor(self._threads, prepared, self._login)
        except RuntimeError as error:
            raise TrailUnavailable("the store is closed") from error
        try:
            connection = await settled(opening)
        except psycopg.Error as error:
            raise translated(error) from error
        except asyncio.CancelledError:
            if opening.exception() is None:
                opening.result().close()
            raise
        return Wire(connection, loop=loop)
