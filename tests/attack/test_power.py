"""Attacks 149 and 170: one grant used twice, and calls that go on although an operator froze them."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly.assemble import utc_now
from ringfence.errors import VoteRefused
from ringfence.runtime import Completed
from tests.acceptance.spine.held import HeldSandbox
from tests.acceptance.spine.household import Clock, assert_refused, assert_waiting, config, open_house
from tests.architecture.source import ROOT

PAY = ("pay", {"to": "shop", "amount": 5})
GRANT: dict[str, Any] = {
    "agent": "ana", "tool": "pay", "uses": 1, "lasting": timedelta(hours=1), "by": "bob", "because": "x",
}  # fmt: skip


def raced(folder: Path) -> list[list[str]]:
    """What two processes say that use the same grant at the same moment."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.attack.grant_once", str(folder)]
    racers = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    return [racer.communicate(timeout=60)[0].split() for racer in racers]


@pytest.mark.req("APR-8")
async def test_149_the_last_use_of_a_grant_is_used_once_by_two_processes_at_once(tmp_path: Path) -> None:
    async with open_house(config(tmp_path), clock=Clock(at=utc_now())) as house:  # as the other processes have it
        await house.runtime.grants.give(**GRANT)
    answers = await asyncio.to_thread(raced, tmp_path)
    assert sorted(answers) in ([["0", "approval_void"], ["1", "completed"]], [["0", "waiting"], ["1", "completed"]])
    with closing(sqlite3.connect(tmp_path / "state/ringfence.db")) as connection:
        assert connection.execute("SELECT count(*) FROM standing_uses").fetchone() == (1,)


@pytest.mark.req("APR-8", "DB-2")
async def test_149_a_grant_is_not_stretched_by_raw_sql(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        grant = await house.runtime.grants.give(**GRANT)
        with closing(sqlite3.connect(tmp_path / "state/ringfence.db", isolation_level=None)) as connection:
            for change in (
                "UPDATE standing_grants SET max_uses = 100",
                "UPDATE standing_grants SET tool = 'grant_access'",
                "DELETE FROM standing_uses WHERE 1 OR invocation_id",
                f"INSERT INTO standing_uses VALUES ('{grant.id}', 'inv_other', '2026')",
                "INSERT OR REPLACE INTO standing_grants SELECT * FROM standing_grants",
            ):
                if change.startswith("DELETE"):
                    assert isinstance(await house.call(*PAY), Completed)
                with pytest.raises(sqlite3.IntegrityError):
                    connection.execute(change)
        assert_waiting(await house.call(*PAY))


@pytest.mark.req("OPS-8")
async def test_170_a_freeze_stops_calls_that_run_wait_are_approved_and_are_being_approved(tmp_path: Path) -> None:
    jail = HeldSandbox()
    async with open_house(config(tmp_path), sandbox=jail) as house:
        await house.runtime.grants.give(**GRANT)
        session = house.session(id="s1")
        runs = [asyncio.create_task(house.call("echo", {"text": str(n)})) for n in range(3)]
        granted = asyncio.create_task(house.call(*PAY))
        await jail.holds(4)
        waits, queued, voted = [await session.call("pay", {"to": "shop", "amount": n}) for n in (6, 7, 8)]
        await house.vote(queued, "alice")
        both: tuple[Any, Any] = await asyncio.gather(
            house.runtime.freezes.freeze(by="bob"), house.vote(voted, "alice"), return_exceptions=True
        )
        frozen, vote = both
        assert not isinstance(frozen, BaseException)
        assert isinstance(vote, VoteRefused) or vote.status == "approved"
        ended = await asyncio.gather(*runs, granted)
        assert [getattr(each, "code", each.status) for each in ended] == ["frozen"] * 4
        for asked in (waits, queued, voted):
            assert_refused(await session.resume(assert_waiting(asked).invocation_id), "frozen")
        for tool, arguments in (PAY, ("echo", {"text": "x"}), ("grant_access", {"person": "x"})):
            assert_refused(await house.call(tool, arguments), "frozen")
        jail.go.set()
        assert house.ran == []
        assert (await house.runtime.audit.verify()).ok


@pytest.mark.req("OPS-8", "DB-2")
async def test_170_a_call_that_was_decided_before_the_freeze_does_not_start_after_it(tmp_path: Path) -> None:
    """The freeze comes between the decision and the start: behind the runtime's back, in the same turn of the loop."""
    async with open_house(config(tmp_path)) as house:
        guard = house.sandbox.refusal

        def freeze_now(job: Any) -> Any:
            with closing(sqlite3.connect(tmp_path / "state/ringfence.db", isolation_level=None)) as connection:
                connection.execute("INSERT INTO freezes (id, by, because, at) VALUES ('f', 'bob', 'x', '2026')")
            return guard(job)

        house.sandbox.refusal = freeze_now  # type: ignore[method-assign]
        assert_refused(await house.call("echo", {"text": "x"}), "frozen")
        assert house.ran == []
