"""One SQLite file, and the ways this process uses it.

Takes: work.  Gives: its result, from the loop's own lane where waiting is not needed, else from the writer thread.
Never: waits for another process in the event loop, and never lets a commit pay for a WAL checkpoint.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from ringfence.errors import RingfenceError, TrailUnavailable
from ringfence.store.engine import Durability, Role
from ringfence.store.faults import Busy, is_busy, translated
from ringfence.store.fence import FIRST, fence
from ringfence.store.lane import Lane, Transaction
from ringfence.store.migrate import migrate
from ringfence.store.queries import queries
from ringfence.store.settled import handed_over

T = TypeVar("T")
Synchronous: TypeAlias = Literal["normal", "full"]

OLDEST_SQLITE = (3, 37, 0)
WAL_BYTES = 16 * 1024 * 1024
WAL_BYTES_AT_MOST = 64 * 1024 * 1024
WAL_LOOK_EVERY = 512
FLUSH_AFTER = 0.01
_OPENING_SECONDS = 5.0

_log = logging.getLogger(__name__)
_PRAGMAS = ("PRAGMA wal_autocheckpoint = 0", f"PRAGMA journal_size_limit = {2 * WAL_BYTES}")
_SYNCHRONOUS: dict[Synchronous, str] = {"normal": "PRAGMA synchronous = NORMAL", "full": "PRAGMA synchronous = FULL"}


def connect(path: Path, *, durability: Synchronous, patience: float) -> sqlite3.Connection:
    """A connection that waits at most `patience` seconds for another writer."""
    # Opening waits in any case: somebody may be bringing the file forward, or clearing up after a crash.
    connection = sqlite3.connect(
        path, timeout=max(patience, _OPENING_SECONDS), isolation_level=None, check_same_thread=False,
        cached_statements=256,
    )  # fmt: skip
    for statement in (*_PRAGMAS, _SYNCHRONOUS[durability], FIRST, f"PRAGMA busy_timeout = {round(patience * 1000)}"):
        connection.execute(statement).fetchall()
    return connection


class Snapshot:
    """Named statements on one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._named = queries("sqlite")

    def run(self, name: str, *parameters: Any) -> sqlite3.Cursor:
        return self._connection.execute(self._named[name], parameters)


class Database:
    """The loop's lane (NORMAL, never waits), the writer's two (FULL, and NORMAL for what the loop could not wait for;
    own thread), and upkeep (own thread)."""

    def __init__(self, path: Path, *, patience: float) -> None:
        self.path = path
        self.loop_lane = Lane(fence(connect(path, durability="normal", patience=0)))
        self.writer_lane = Lane(fence(connect(path, durability="full", patience=patience)))
        # Put on disk as they come, what was handed over would hold the store for so long that what comes next is
        # handed over too, and so on: calls that the loop can write by itself would wait in line for the disk.
        self.patient_lane = Lane(fence(connect(path, durability="normal", patience=patience)))
        self.upkeep_lane = Lane(fence(connect(path, durability="full", patience=patience)))
        # Waits for nobody: a checkpoint that waits for readers would hold up every writer meanwhile.
        self._wal = connect(path, durability="full", patience=0)
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ringfence-writer")
        self._upkeep = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ringfence-upkeep")
        self._writes = 0
        self._soon = 0
        self._flushed = 0
        self._closed = False

    async def write(self, work: Callable[[Transaction], T], *, durability: Durability, role: Role = "application") -> T:
        """Do work in one transaction; `full` is on disk when this returns, `soon` soon after. A file has no roles."""
        self._writes += 1
        if self._writes % WAL_LOOK_EVERY == 0:
            self._look_after_wal()
        if durability == "full":
            soon = self._soon
            result = await self._on(self._writer, lambda: self.writer_lane.write(work))
            self._flushed = max(self._flushed, soon)  # what was in the log before it went to disk with it
            return result
        try:
            result = self.loop_lane.write(work)
        except Busy:
            result = await self._on(self._writer, lambda: self.patient_lane.write(work))
        if durability == "soon":
            self._flush_soon()
        return result

    async def read(self, work: Callable[[Transaction], T]) -> T:
        """Do small work that changes nothing."""
        try:
            return self.loop_lane.read(work)
        except Busy:
            return await self._on(self._writer, lambda: self.patient_lane.read(work))

    async def upkeep(self, work: Callable[[Lane], T], *, role: Role = "application") -> T:
        """Do work that may take long, away from the loop and from the writer."""
        return await self._on(self._upkeep, lambda: work(self.upkeep_lane))

    @contextmanager
    def reading(self) -> Generator[Snapshot, None, None]:
        """The store as it stands at one moment, on a connection that can change nothing."""
        try:
            with closing(connect(self.path, durability="normal", patience=5)) as connection:
                connection.text_factory = _strict_text
                connection.execute("PRAGMA query_only = ON")
                fence(connection).execute("BEGIN")
                yield Snapshot(connection)
        except sqlite3.Error as error:
            raise translated(error) from error

    async def news(self, *, at_most: float) -> None:
        """Nobody is told of another process's writes to a file; whoever waits looks again."""
        await asyncio.sleep(at_most)

    async def close(self) -> None:
        await asyncio.to_thread(self.close_now)

    async def _on(self, thread: ThreadPoolExecutor, job: Callable[[], T]) -> T:
        try:
            waiting = handed_over(thread, job)
        except RuntimeError as error:
            raise TrailUnavailable("the store is closed") from error
        try:
            return await waiting
        except Busy as busy:
            raise TrailUnavailable("the store is held by another process for too long") from busy

    def _look_after_wal(self) -> None:
        if not self._closed:
            self._upkeep.submit(self._checkpoint_wal)

    def _flush_soon(self) -> None:
        """Have the log put on disk in a moment; whoever flushes it before then, or comes before then, shares that."""
        if self._soon == self._flushed:
            asyncio.get_running_loop().call_later(FLUSH_AFTER, self._flush)
        self._soon += 1

    def _flush(self) -> None:
        if self._flushed < self._soon and not self._closed:
            self._flushed = self._soon
            self._writer.submit(self._flush_wal)

    def _flush_wal(self) -> None:
        try:
            log = os.open(f"{self.path}-wal", os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fdatasync(log)
            finally:
                os.close(log)
        except OSError as error:
            _log.warning("the WAL of the store could not be put on disk: %s", error)

    def _checkpoint_wal(self) -> None:
        size = self._copy_wal("PASSIVE")
        if size >= WAL_BYTES:
            # What came meanwhile is little. Copied by the writer's thread, where no move is under way, it leaves
            # nothing, and the WAL is written from its start again: a commit that grows no file is sooner on disk.
            self._writer.submit(self._copy_wal, "PASSIVE" if size < WAL_BYTES_AT_MOST else "TRUNCATE")

    def _copy_wal(self, how: Literal["PASSIVE", "TRUNCATE"]) -> int:
        """Copy a WAL that has grown long into the database; gives its length, or 0 where that is not known."""
        try:
            size = os.path.getsize(f"{self.path}-wal")
            if size >= WAL_BYTES:
                self._wal.execute(f"PRAGMA wal_checkpoint({how})").fetchall()
        except (OSError, sqlite3.Error) as error:
            _log.warning("the WAL of the store could not be checkpointed: %s", error)
            return 0
        return size

    def close_now(self) -> None:
        """Close from a place that may block."""
        self._closed = True
        for thread in (self._upkeep, self._writer):
            thread.shutdown(wait=True)
        for lane in (self.loop_lane, self.writer_lane, self.patient_lane, self.upkeep_lane):
            lane.close()
        self._wal.close()


def open_database(path: Path, *, at: str, patience: float) -> Database:
    """Open a file, made readable for its owner alone if it is new, and bring it to the current schema."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise RingfenceError(
            f"SQLite {sqlite3.sqlite_version} is too old",
            code="config_invalid",
            remedy=f"use a Python with SQLite {'.'.join(map(str, OLDEST_SQLITE))} or newer",
        )
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        _prepare(path, at=at, patience=patience)
        return Database(path, patience=patience)
    except OSError as error:
        raise TrailUnavailable(f"the store `{path}` cannot be opened: {error.strerror}") from error
    except sqlite3.Error as error:
        raise translated(error) from error


def _prepare(path: Path, *, at: str, patience: float) -> None:
    connection = connect(path, durability="full", patience=patience)
    try:
        _turn_to_wal(connection, until=time.monotonic() + patience)
        migrate(connection, at=at, path=str(path))
    finally:
        connection.close()


def _turn_to_wal(connection: sqlite3.Connection, *, until: float) -> None:
    """Switch to WAL; SQLite does not wait for other processes here, so this does."""
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= until:
                raise
            time.sleep(0.005)
            continue
        if mode != "wal":
            raise TrailUnavailable(f"the store cannot use a write-ahead log on this file system: it is in `{mode}`")
        return


def _strict_text(raw: bytes) -> str:
    """Stored text; bytes that are no text become something that no hash was ever made of."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return f"\0not text: {raw.hex()}"
