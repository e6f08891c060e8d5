"""One PostgreSQL database, and the few threads in which this process waits for it.

Takes: work.  Gives: its result.
Never: waits in the event loop, and never leaves a move half told to whoever is cancelled.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import psycopg

from ringfence.audit.events import AuditEvent
from ringfence.errors import TrailUnavailable
from ringfence.store.engine import Durability, Role
from ringfence.store.postgres.bell import Bell
from ringfence.store.postgres.faults import translated
from ringfence.store.postgres.lane import Connection, PostgresLane, PostgresTransaction
from ringfence.store.postgres.login import Login
from ringfence.store.postgres.wire import YES
from ringfence.store.postgres.wires import Wires
from ringfence.store.queries import queries
from ringfence.store.settled import settled

T = TypeVar("T")
CONNECTIONS = 4
_STREAMED = frozenset({"links_by_writer", "links_through"})


class Snapshot:
    """Named statements on one connection; what may be long is fetched piece by piece."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._named = queries("postgres")
        self._streams: list[psycopg.RawServerCursor[tuple[Any, ...]]] = []

    def run(self, name: str, *parameters: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        if name not in _STREAMED:
            return self._connection.execute(self._named[name].encode(), parameters or None)
        cursor = psycopg.RawServerCursor(self._connection, name)
        self._streams.append(cursor)
        cursor.itersize = 1_000
        return cursor.execute(self._named[name].encode(), parameters or None)

    def close(self) -> None:
        for cursor in self._streams:
            cursor.close()


class UpkeepLane:
    """A lane that writes as one role."""

    def __init__(self, lane: PostgresLane, *, role: Role) -> None:
        self._lane = lane
        self._role: Role = role

    def write(self, work: Callable[[PostgresTransaction], T]) -> T:
        return self._lane.write(work, role=self._role)

    def read(self, work: Callable[[PostgresTransaction], T]) -> T:
        return self._lane.read(work)


class PostgresDatabase:
    """A few threads for calls and one for upkeep, each with a connection and a chain of its own."""

    def __init__(self, login: Login) -> None:
        self.login = login
        self._calls = ThreadPoolExecutor(max_workers=CONNECTIONS, thread_name_prefix="ringfence-calls")
        self._upkeep = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ringfence-upkeep")
        self._own = threading.local()
        self._lanes: list[PostgresLane] = []
        self._wires: dict[asyncio.AbstractEventLoop, Wires] = {}
        self._bell = Bell(login, ring=self._ring)
        self._closed = False

    async def write(
        self, work: Callable[[PostgresTransaction], T], *, durability: Durability, role: Role = "application"
    ) -> T:
        """Do work in one transaction; `full` is on disk when this returns."""
        result = await self._on(self._calls, lambda: self._lane.write(work, durability=durability, role=role))
        self._bell.ring_soon()
        return result

    async def move(self, name: str, *parameters: str | None, events: Sequence[AuditEvent]) -> bool:
        """Ask one function that makes a move with its events, in one journey; gives what it says."""
        made, heard = await self._of_this_loop().ask(name, parameters, events=events)
        if heard == YES:
            self._bell.ring_soon()
        return made == YES

    async def ask(self, name: str, *parameters: str | None) -> bytes | None:
        """The one value that a short statement answers with, as text."""
        (value,) = await self._of_this_loop().ask(name, parameters)
        return value

    async def read(self, work: Callable[[PostgresTransaction], T]) -> T:
        """Do small work that changes nothing."""
        return await self._on(self._calls, lambda: self._lane.read(work))

    async def upkeep(self, work: Callable[[UpkeepLane], T], *, role: Role = "application") -> T:
        """Do work that may take long, away from the calls."""
        return await self._on(self._upkeep, lambda: work(UpkeepLane(self._lane, role=role)))

    @contextmanager
    def reading(self) -> Generator[Snapshot, None, None]:
        """The store as it stands at one moment, on a connection that can change nothing."""
        connection = self.login.connect()
        try:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            with closing(Snapshot(connection)) as snapshot:
                yield snapshot
        except psycopg.Error as error:
            raise translated(error) from error
        finally:
            connection.close()

    async def news(self, *, at_most: float) -> None:
        """Wait until somebody rings, or that many seconds: who rings may have died before it could."""
        await self._bell.heard(at_most=at_most)

    async def close(self) -> None:
        self._closed = True
        wires = self._wires.pop(asyncio.get_running_loop(), None)
        if wires is not None:
            await wires.close()
        await asyncio.to_thread(self._close_rest)

    def _close_rest(self) -> None:
        """Close what may block."""
        for wires in self._wires.values():
            wires.drop()
        self._bell.close()
        for thread in (self._calls, self._upkeep):
            thread.shutdown(wait=True)
        for lane in self._lanes:
            lane.close()

    def _ring(self) -> None:
        self._upkeep.submit(self._notify)

    def _notify(self) -> None:
        self._lane.notify()

    def _of_this_loop(self) -> Wires:
        """The connections of the loop that runs; those of loops that ended are let go."""
        loop = asyncio.get_running_loop()
        wires = self._wires.get(loop)
        if wires is None:
            if self._closed:
                raise TrailUnavailable("the store is closed")
            for gone in [each for each in self._wires if each.is_closed()]:
                self._wires.pop(gone).drop()
            wires = self._wires[loop] = Wires(self.login, threads=self._calls, at_most=CONNECTIONS)
        return wires

    @property
    def _lane(self) -> PostgresLane:
        """The lane of this thread."""
        lane: PostgresLane | None = getattr(self._own, "lane", None)
        if lane is None:
            lane = PostgresLane(self.login)
            self._own.lane = lane
            self._lanes.append(lane)
        return lane

    async def _on(self, thread: ThreadPoolExecutor, job: Callable[[], T]) -> T:
        try:
            waiting = asyncio.get_running_loop().run_in_executor(thread, job)
        except RuntimeError as error:
            raise TrailUnavailable("the store is closed") from error
        return await settled(waiting)
