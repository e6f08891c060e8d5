"""DB-1 on PostgreSQL: governed calls of eight processes, beside pgbench with as many clients and statements.

Takes: a PostgreSQL of the bench's own, which counts what a call has it do.  Gives: rows.
Never: counts a statement that only looks, or a rule's: pgbench is given no more work than the rows that a call writes.
"""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import psycopg

from bench.harness.rounds import alternate
from bench.harness.rows import Goal, Row, at_least
from bench.harness.sides import Pace
from bench.sides.kept_calls import SIGNING_KEY, governed
from ringfence.assembly.assemble import utc_now
from ringfence.store.postgres import PostgresStore
from ringfence.testing.store_samples import furnish
from tests.cluster import Cluster, binaries, running_cluster

WORKERS = 8
_COUNTED_CALLS = 50
_DATABASE = "furnished"
_SERVER = ("listen_addresses=", "max_connections=200", "log_min_messages=fatal")
_LOOK = "SELECT abalance FROM pgbench_accounts WHERE aid = :id;"
_CHANGES = {
    "INSERT": "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :id, 1, CURRENT_TIMESTAMP);",
    "UPDATE": "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :id;",
}


def measure() -> Iterator[Row]:
    with ExitStack() as stack:
        cluster = stack.enter_context(running_cluster(settings=_SERVER))
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ringfence-bench-")))
        subprocess.run(
            [str(binaries() / "pgbench"), "-i", "-q", cluster.url("postgres")], capture_output=True, check=True
        )
        asyncio.run(_calls(cluster, count=0))
        written = _written_by_a_call(cluster)
        crowd = _Crowd(cluster, database=_DATABASE)
        stack.callback(crowd.close)
        changes = [_CHANGES[word] for word in written.elements()]
        yield _row(crowd, _Pgbench(cluster, script=_written_down(scratch, changes)), statements=len(changes) + 1,
                   goal=at_least(0.5), what="as many statements as a call writes rows, and its look")  # fmt: skip
        yield _row(crowd, _Pgbench(cluster, script=_written_down(scratch, [*_CHANGES.values()])), statements=3,
                   goal=None, what="as many statements as a call sends")  # fmt: skip


def _row(crowd: _Crowd, pgbench: _Pgbench, *, statements: int, goal: Goal | None, what: str) -> Row:
    rates = alternate([crowd, pgbench], slices=8, seconds=0.5)
    return Row(
        id="DB-1",
        what=f"governed calls a second on PostgreSQL, {WORKERS} workers, no jail",
        baseline=f"pgbench, {WORKERS} clients; {what}: {statements}",
        goal=goal,
        measured=rates["governed"] / rates["pgbench"],
        detail=f"{rates['governed']:,.0f}/s beside {rates['pgbench']:,.0f}/s, on disk before each start and end",
    )


def _written_down(folder: Path, changes: Sequence[str]) -> Path:
    """A script of a look, then the changes in two transactions, as a call has a start and an end."""
    half = (len(changes) + 1) // 2
    lines = [r"\set id random(1, 100000)", _LOOK]
    for part in (changes[:half], changes[half:]):
        # A single statement is a transaction without being told so.
        lines += part if len(part) == 1 else ["BEGIN;", *part, "COMMIT;"]
    script = folder / f"{len(changes)}.sql"
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return script


def _written_by_a_call(cluster: Cluster) -> Counter[str]:
    """How many rows one call puts in and changes, as the server counts them, whichever statements did it."""
    before = _rows_written(cluster)
    asyncio.run(_calls(cluster, count=_COUNTED_CALLS))
    written = _rows_written(cluster) - before
    return Counter({word: round(rows / _COUNTED_CALLS) for word, rows in written.items()})


def _rows_written(cluster: Cluster) -> Counter[str]:
    with psycopg.connect(cluster.url(_DATABASE), autocommit=True) as server:
        (added, changed), *_ = server.execute(
            "SELECT sum(n_tup_ins)::bigint, sum(n_tup_upd)::bigint FROM pg_stat_user_tables"
        ).fetchall()
    return Counter(INSERT=added, UPDATE=changed)


async def _calls(cluster: Cluster, *, count: int) -> None:
    store = PostgresStore.open(cluster.url(_DATABASE, user="person"), signing_key=SIGNING_KEY, anchor=None, now=utc_now)
    if not count:
        await furnish(store)
    for _ in range(count):
        await governed(store, secrets.token_hex(12), durability="full")
    await store.close()


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
