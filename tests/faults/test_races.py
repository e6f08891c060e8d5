"""Eight processes race for one key, one approval, one warrant, one bucket, one row: exactly as many win as may."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ringfence.runtime.invocation import Status
from ringfence.store.kept import KeptStore
from ringfence.testing.store_samples import allowed, ask, call, furnish, noted, queue, send, status_of
from tests.architecture.source import ROOT
from tests.cluster import Cluster
from tests.faults.contender import opened

pytestmark = pytest.mark.req("SCL-1", "IDM-2", "APR-3", "APR-4", "POL-2", "POL-4", "STO-1")
CONTENDERS = 8
FEW, MANY = 10, 1_000


@pytest.fixture(params=["sqlite", "postgres"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "s.db")
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    name = cluster.database()
    yield cluster.url(name, user="person")
    cluster.drop(name)


@contextmanager
def contenders(url: str) -> Generator[list[subprocess.Popen[str]], None, None]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "tests.faults.contender", url]
    pipe = subprocess.PIPE
    crowd = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True)
        for _ in range(CONTENDERS)
    ]
    assert all(said(each) == "ready" for each in crowd)
    yield crowd
    for each in crowd:
        each.communicate("quit\n", timeout=60)
        assert each.returncode == 0


def said(one: subprocess.Popen[str]) -> str:
    assert one.stdout is not None
    return one.stdout.readline().strip()


def all_told(crowd: list[subprocess.Popen[str]], *words: str) -> list[str]:
    """Tell everybody at once; gives the answers."""
    for number, one in enumerate(crowd):
        assert one.stdin is not None
        one.stdin.write(" ".join(words).format(number) + "\n")
        one.stdin.flush()
    return sorted(map(said, crowd))


async def begin(store: KeptStore, id_: str, *, session: str = "s-1") -> None:
    """A call that runs, for rows to be written by."""
    one = call(id_, session=session)
    await store.start(one, warrant=allowed(one), durability="full", events=[noted("started")])


async def race(url: str, *, rounds: int) -> int:
    store: KeptStore = opened(url)
    await furnish(store)
    lost = CONTENDERS - 1
    await begin(store, "rows")
    with contenders(url) as crowd:
        for number in range(rounds):
            assert all_told(crowd, "key", str(number)) == ["in_flight"] * lost + ["ok"]
            await queue(store, call(f"w{number}", send))
            assert all_told(crowd, "warrant", f"w{number}") == ["in_flight"] * lost + ["ok"]
            await ask(store, call(f"v{number}", send), votes_needed=2)
            assert all_told(crowd, "vote", f"v{number}", "person{0}") == ["ok"] * 2 + ["vote_refused"] * (lost - 1)
            assert await status_of(store, f"v{number}") is Status.QUEUED
            assert all_told(crowd, "bucket", f"b{number}") == ["ok"] * 3 + ["rate_limited"] * (CONTENDERS - 3)
            assert all_told(crowd, "cap", f"c{number}") == ["ok"] * 3 + ["spend_cap_reached"] * (CONTENDERS - 3)
            assert all_told(crowd, "swap", f"row-{number}") == ["in_flight"] * lost + ["ok"]
            await begin(store, f"rows-s{number}", session=f"s{number}")
            assert all_told(crowd, "row", "r", f"s{number}") == ["ok"] * 3 + ["storage_quota"] * (CONTENDERS - 3)
    await store.checkpoint()
    assert (await store.verify()).ok
    await store.close()
    print(f"{rounds} rounds of {CONTENDERS} processes")
    return rounds


async def test_one_of_eight_wins_each_race(url: str) -> None:
    assert await race(url, rounds=FEW) == FEW


@pytest.mark.long
async def test_one_of_eight_wins_each_of_a_thousand_races(url: str) -> None:
    assert await race(url, rounds=MANY) == MANY
