"""A file of SQLite that another process holds: nothing runs without its trail, and once it lets go all goes on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from ringfence.assembly.assemble import utc_now
from ringfence.execution.sandbox import Job, RawOutput
from ringfence.runtime import Failed
from ringfence.runtime.invocation import Status
from tests.acceptance.spine.household import Clock, assert_completed, assert_refused, config, open_house, scripted

pytestmark = pytest.mark.req("AUD-3", "IDM-3", "DB-1")
HOLDER = """
import sqlite3, sys
one = sqlite3.connect(sys.argv[1], isolation_level=None)
one.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
one.execute("ROLLBACK")
"""
PUT = ("draft", {"title": "x"})


@contextmanager
def held(file: Path) -> Generator[None, None, None]:
    """Another process writes, and does not come to an end."""
    pipe = subprocess.PIPE
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(file)], stdin=pipe, stdout=pipe, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    try:
        yield
    finally:
        holder.communicate("go\n", timeout=30)


async def test_while_the_file_is_held_nothing_runs_and_then_all_goes_on(tmp_path: Path) -> None:
    async with open_house(config(tmp_path), clock=Clock(at=utc_now())) as house:
        assert_completed(await house.call(*PUT))
        with held(tmp_path / "state" / "ringfence.db"):
            assert_refused(await house.call(*PUT), "trail_unavailable")
            assert house.ran == ["draft"]
        assert_completed(await house.call(*PUT))
        assert house.ran == ["draft", "draft"]
        assert (await house.runtime.audit.verify()).ok


async def test_a_file_that_is_held_while_a_tool_runs_withholds_its_output(tmp_path: Path) -> None:
    jail, clock, file = scripted(), Clock(at=utc_now()), tmp_path / "state" / "ringfence.db"
    plain, holding = jail.run, held(file)

    async def hold(job: Job) -> RawOutput:
        holding.__enter__()
        return await plain(job)

    jail.run = hold  # type: ignore[method-assign]
    async with open_house(config(tmp_path), clock=clock, sandbox=jail) as house:
        outcome = await house.session().call(*PUT, idempotency_key="k")
        assert isinstance(outcome, Failed)
        assert outcome.code == "in_doubt"
        holding.__exit__(None, None, None)
    clock.forward(timedelta(minutes=1))
    async with open_house(config(tmp_path), clock=clock) as later:
        (call,) = await later.runtime.calls.list()
        assert call.status is Status.IN_DOUBT
        assert_refused(await later.session().call(*PUT, idempotency_key="k"), "in_doubt")
        assert (later.ran, (await later.runtime.audit.verify()).ok) == ([], True)
