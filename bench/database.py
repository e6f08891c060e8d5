"""DB-1, CALL-3: what the store costs a call, on a file and on a server, and whether it grows.

Takes: a store in a scratch folder, a PostgreSQL of the bench's own.  Gives: rows.
Never: compares with less durability than it has itself; fsync is on, on both sides.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench.harness.rounds import alternate, round_robin
from bench.harness.rows import Row, at_least, at_most
from bench.harness.sides import Local, Pace
from bench.sides.kept_calls import SIGNING_KEY, governed
from ringfence.assembly.assemble import utc_now
from ringfence.store import SqliteStore
from ringfence.store.engine import Durability
from ringfence.store.postgres import PostgresStore
from ringfence.testing.store_samples import furnish
from tests.cluster import Cluster, binaries, running_cluster

WORKERS, EVENTS = 8, 2_000_000
_LEVELS: dict[Durability, str] = {"normal": "NORMAL", "full": "FULL"}
_SERVER = ("listen_addresses=", "max_connections=200", "log_min_messages=fatal")
# As many statements as a governed call sends: a look, a row put in, a row changed; each a transaction of its own.
_SCRIPT = """\\set id random(1, 100000)
SELECT abalance FROM pgbench_accounts WHERE aid = :id;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :id, 1, CURRENT_TIMESTAMP);
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :id;
"""


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="ringfence-bench-", dir="/var/tmp") as folder:
        yield from _beside_one_row(Path(folder))
        yield _grown(Path(folder))
    yield _server()


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
        raw.execute(f"{count} INSERT INTO audit_events SELECT {row}, {digest}, {digest}, {digest} FROM n")  # noqa: S608
        raw.execute(f"{count} INSERT INTO audit_bodies SELECT 1000 + i, hex(zeroblob(150)) FROM n")  # noqa: S608
        for _, sql in rules:
            raw.execute(sql)


class _Crowd:
    """Eight processes that make governed calls for as long as they are told."""

    name = "governed"

    def __init__(self, cluster: Cluster, *, database: str) -> None:
        command = [sys.executable, "-m", "bench.sides.server_calls", cluster.url(database, user="person")]
        pipe = subprocess.PIPE
        self._crowd = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(WORKERS)]
        for each in self._crowd:
            _line(each)

    def times(self, calls: int) -> Sequence[int]:
        raise NotImplementedError("a crowd has a pace")

    def pace(self, seconds: float) -> Pace:
        for each in self._crowd:
            assert each.stdin is not None  # noqa: S101
            each.stdin.write(f"{seconds}\n")
            each.stdin.flush()
        answers = [tuple(map(int, _line(each).split())) for each in self._crowd]
        return Pace(calls=sum(made for made, _ in answers), taken=max(taken for _, taken in answers))

    def close(self) -> None:
        for each in self._crowd:
            each.communicate(timeout=30)


class _Pgbench:
    """As many clients of pgbench, with as many statements."""

    name = "pgbench"

    def __init__(self, cluster: Cluster, *, script: Path) -> None:
        self._cluster = cluster
        self._words = [
            str(binaries() / "pgbench"),
            "-n",
            "-c",
            str(WORKERS),
            "-j",
            "2",
            "-M",
            "prepared",
            "-f",
            str(script),
        ]
        self._each = 20

    def times(self, calls: int) -> Sequence[int]:
        raise NotImplementedError("pgbench has a pace")

    def pace(self, seconds: float) -> Pace:
        command = [*self._words, "-t", str(self._each), self._cluster.url("postgres")]
        begun = time.perf_counter_ns()
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        taken = time.perf_counter_ns() - begun
        rate = float(said.split("tps = ")[1].split()[0])
        self._each = max(5, round(rate * seconds / WORKERS))
        calls = self._each * WORKERS
        return Pace(calls=calls, taken=min(taken, round(calls / rate * 1e9)))


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None  # noqa: S101
    return process.stdout.readline()


def _server() -> Row:
    with ExitStack() as stack:
        cluster = stack.enter_context(running_cluster(settings=_SERVER))
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ringfence-bench-")))
        (scratch / "three.sql").write_text(_SCRIPT, encoding="utf-8")
        subprocess.run(
            [str(binaries() / "pgbench"), "-i", "-q", cluster.url("postgres")], capture_output=True, check=True
        )
        _prepare(cluster)
        crowd = _Crowd(cluster, database="furnished")
        stack.callback(crowd.close)
        rates = alternate([crowd, _Pgbench(cluster, script=scratch / "three.sql")], slices=8, seconds=0.5)
    return Row(
        id="DB-1",
        what=f"governed calls a second on PostgreSQL, {WORKERS} workers, no jail",
        baseline="pgbench, as many clients and statements",
        goal=at_least(0.5),
        measured=rates["governed"] / rates["pgbench"],
        detail=f"{rates['governed']:,.0f}/s beside {rates['pgbench']:,.0f}/s, on disk before each start and end",
    )


def _prepare(cluster: Cluster) -> None:
    async def furnished() -> None:
        url = cluster.url("furnished", user="person")
        store = PostgresStore.open(url, signing_key=SIGNING_KEY, anchor=None, now=utc_now)
        await furnish(store)
        await store.close()

    asyncio.run(furnished())
