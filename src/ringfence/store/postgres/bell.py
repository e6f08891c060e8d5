"""Who follows the trail is woken when something was kept: LISTEN and NOTIFY, a little after the commit.

Takes: a login.  Gives: a wait that ends early when somebody rings.
Never: delays a commit: PostgreSQL lets those who notify commit one at a time, so a bell rings in a transaction of its
own, for many commits at once; whoever hears nothing looks by itself after a while.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import psycopg

from ringfence.errors import RingfenceError
from ringfence.store.postgres.login import Login
from ringfence.store.queries import queries

RING_SECONDS = 0.02
_LOOK_SECONDS = 0.5


class Bell:
    """Rings for this process's commits, and hears those of all."""

    def __init__(self, login: Login, *, ring: Callable[[], object]) -> None:
        self._login = login
        self._ring = ring
        self._due: asyncio.TimerHandle | None = None
        self._listening: threading.Thread | None = None
        self._closed = threading.Event()
        self._waiting: set[asyncio.Future[None]] = set()

    def ring_soon(self) -> None:
        """Ring once for all that is committed within the next moments."""
        if self._due is None and not self._closed.is_set():
            self._due = asyncio.get_running_loop().call_later(RING_SECONDS, self._ring_now)

    async def heard(self, *, at_most: float) -> None:
        """Wait for a ring, and no longer than that."""
        loop = asyncio.get_running_loop()
        if self._listening is None and not self._closed.is_set():
            self._listening = threading.Thread(target=self._listen, args=(loop,), name="ringfence-bell", daemon=True)
            self._listening.start()
        waiting: asyncio.Future[None] = loop.create_future()
        self._waiting.add(waiting)
        await asyncio.wait([waiting], timeout=at_most)
        self._waiting.discard(waiting)

    def close(self) -> None:
        self._closed.set()
        if self._due is not None:
            self._due.cancel()
        if self._listening is not None:
            self._listening.join()

    def _ring_now(self) -> None:
        self._due = None
        if not self._closed.is_set():
            self._ring()

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        while not self._closed.is_set():
            try:
                with self._login.connect() as connection:
                    connection.execute(queries("postgres")["hold_listening"].encode())
                    connection.execute("LISTEN ringfence_events")
                    self._hear(connection, loop)
            except (psycopg.Error, RingfenceError):
                self._closed.wait(_LOOK_SECONDS)

    def _hear(self, connection: psycopg.Connection[tuple[object, ...]], loop: asyncio.AbstractEventLoop) -> None:
        while not self._closed.is_set():
            for _ in connection.notifies(timeout=_LOOK_SECONDS, stop_after=1):
                if not loop.is_closed():
                    loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
