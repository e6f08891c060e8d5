"""DB-1, CALL-3: what the store costs a call, on a file and on a server, and whether it grows.

Takes: a store in a scratch folder, a PostgreSQL of the bench's own.  Gives: rows.
Never: compares with less durability than it has itself; fsync is on, on both sides.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench import server
from bench.harness.rounds import round_robin
from bench.harness.rows import Row, at_most
from bench.harness.sides import Local
from bench.sides.kept_calls import SIGNING_KEY, governed
from ringfence.assembly.assemble import utc_now
from ringfence.store import SqliteStore
from ringfence.store.engine import Durability
from ringfence.testing.store_samples import furnish

EVENTS = 2_000_000
_ROWS_BEFORE = 400  # more than the rounds that are measured, less than SQLite would copy by itself
_LEVELS: dict[Durability, str] = {"normal": "NORMAL", "full": "FULL"}


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="ringfence-bench-", dir="/var/tmp") as folder:
        yield from _beside_one_row(Path(folder))
        yield _grown(Path(folder))
    yield from server.measure()


class _Kept:
    """Calls on one file of SQLite."""

    def __init__(self, file: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self.store = SqliteStore.open(file, signing_key=SIGNING_KEY, anchor=None, now=utc_now)
        self._loop.run_until_complete(furnish(self.store))

    def side(self, name: str, *, durability: Durability) -> Local:
        def one() -> None:
            self._loop.run_until_complete(governed(self.store, secrets.token_hex(12), durability=durability))

        return Local(name=name, function=one)

    def close(self) -> None:
        self._loop.run_until_complete(self.store.close())
        self._loop.close()


def _beside_one_row(folder: Path) -> Iterator[Row]:
    kept = _Kept(folder / "calls.db")
    for durability, level in _LEVELS.items():
        plain = sqlite3.connect(folder / f"plain-{level}.db", isolation_level=None)
        plain.executescript(
            f"PRAGMA journal_mode = WAL; PRAGMA synchronous = {level}; CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)"
        )
        insert = partial(plain.execute, "INSERT INTO t (x) VALUES (?)", ("x" * 400,))
        _let_log_grow(plain, insert)
        single = Local(name="one row", function=insert)
        taken = round_robin([kept.side("call", durability=durability), single], calls=1)
        yield Row(
            id="DB-1",
            what=f"store work of a call on SQLite, {level}",
            baseline=f"one row committed, {level}",
            goal=at_most(4),
            measured=taken["call"].p50 / taken["one row"].p50,
            detail=f"{taken['call']} beside {taken['one row']}; two commits, four chained events, every rule",
        )
        plain.close()
    kept.close()


def _let_log_grow(plain: sqlite3.Connection, insert: Callable[[], object]) -> None:
    """A file that grows costs a flush more than one that is written over, as the store's own log is."""
    for _ in range(_ROWS_BEFORE):
        insert()
    plain.execute("PRAGMA wal_checkpoint(RESTART)")


def _grown(folder: Path) -> Row:
    small, large = _Kept(folder / "small.db"), _Kept(folder / "large.db")
    _fill(folder / "large.db")
    sides = [kept.side(name, durability="normal") for name, kept in (("small", small), ("large", large))]
    taken = round_robin(sides, calls=1)
    for kept in (small, large):
        kept.close()
    return Row(
        id="CALL-3",
        what=f"store work of a call among {EVENTS:,} audit rows, SQLite",
        baseline="an empty store",
        goal=at_most(1.2),
        measured=taken["large"].p50 / taken["small"].p50,
        detail=f"{taken['large']} beside {taken['small']}",
    )


def _fill(file: Path) -> None:
    """As many events as years would bring, put there behind the rules' back."""
    with sqlite3.connect(file, timeout=60) as raw:
        named = "type = 'trigger' AND name LIKE 'audit_%'"
        rules = raw.execute(f"SELECT name, sql FROM sqlite_master WHERE {named}").fetchall()  # noqa: S608
        for name, _ in rules:
            raw.execute(f"DROP TRIGGER {name}")
        count = f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {EVENTS})"  # noqa: S608
        digest = "'" + "0" * 64 + "'"
        row = "1000 + i, 'w' || (i % 40), i, '2026-01-01', 'tool_started', 'ana', 'look', 'read', 'inv_' || i"
        body = "hex(zeroblob(150))"
        raw.execute(f"{count} INSERT INTO audit_events SELECT {row}, {digest}, {digest}, {digest}, {body} FROM n")  # noqa: S608
        for _, sql in rules:
            raw.execute(sql)
