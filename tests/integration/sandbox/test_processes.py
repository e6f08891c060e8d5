"""Listed programs in a real jail: they run, nothing else does, and all of them end with the call."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Processes
from ringfence.contract.limits import Limits
from ringfence.sandbox import library
from tests.integration.sandbox.driver import Yard

pytestmark = [pytest.mark.req("SBX-5", "SBX-3"), pytest.mark.asyncio(loop_scope="module")]

LISTED = Processes("wc", "sh", "cat", "sleep")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def yard(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Yard]:
    opened = Yard(state=tmp_path_factory.mktemp("state"), permits=Permits(processes=LISTED))
    await opened.load("running")
    try:
        yield opened
    finally:
        await opened.close()


@pytest.mark.req("CON-12")
async def test_a_listed_program_runs_through_the_context(yard: Yard) -> None:
    assert await yard.output("count", {"text": "one two three"}) == "0 3"
    assert await yard.output("count_awaited", {"text": "one two"}) == "0 2"


@pytest.mark.parametrize("program", ["id", "/usr/bin/id", "../bin/id", "", "wc "])
async def test_another_is_not_allowed(yard: Yard, program: str) -> None:
    assert (await yard.fault("start", {"program": program}))[0] == "binary_not_allowed"


async def test_programs_start_each_other_and_inherit_the_jail(yard: Yard) -> None:
    assert await yard.output("shell", {"script": "cat /etc/passwd | wc -l"}) == "0 1 "
    code, _, said = (await yard.output("shell", {"script": "id; cat /etc/shadow; echo x > /here"})).partition(" ")
    assert code != "0"
    assert ("id: not found" in said, "/etc/shadow" in said, "/here" in said) == (True, True, True)


@pytest.mark.parametrize(
    "script",
    [
        "/lib64/ld-linux-x86-64.so.2 /usr/lib/*/*/libcap2/tests/* 2>/dev/null",
        "cat /usr/bin/wc > /tmp/copy; /tmp/copy",
        "cat /usr/bin/wc > /tmp/copy; /lib64/ld-linux-x86-64.so.2 /tmp/copy",
        "cat /lib64/ld-linux-x86-64.so.2 > /tmp/loader; /tmp/loader /usr/bin/wc",
        "echo '#!/bin/sh' > /tmp/script; /tmp/script",
        "LD_PRELOAD=/tmp/none.so LD_LIBRARY_PATH=/tmp exec /usr/bin/id",
        "exec /proc/self/root/usr/bin/id",
    ],
)
async def test_no_trick_runs_another(yard: Yard, script: str) -> None:
    told = await yard.output("shell", {"script": script})
    assert not told.startswith("0 "), told


@pytest.mark.req("SBX-9")
async def test_what_a_call_leaves_behind_dies_with_it(yard: Yard) -> None:
    marker = 86_000 + os.getpid() % 1_000
    await yard.output("leave_behind", {"seconds": marker})
    assert not [pid for pid in _processes() if str(marker) in _words(pid)]


async def test_every_call_imports_the_tool_in_its_own_process(yard: Yard) -> None:
    assert await yard.output("imported_by") == [1, 1, 0]


async def test_a_tree_is_counted_as_one(yard: Yard) -> None:
    limits = Limits(cpu_seconds=1, wall_seconds=20)
    script = "while :; do :; done & while :; do :; done & wait"
    code, _ = await yard.fault("shell", {"script": script}, limits=limits)
    assert code == "cpu_limit"


async def test_children_stop_at_the_limit_of_processes(yard: Yard) -> None:
    raw = await yard.run(
        "shell", {"script": "for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done; wait"}, limits=Limits(pids=5)
    )
    assert raw.reply is not None
    assert b"Cannot fork" in raw.reply


async def test_a_job_that_was_judged_before_libraries_were_read_runs_with_their_programs_hidden(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "_found", dict[str, tuple[str, ...]]())
    job = yard.job("count", {"text": "one two"}, limits=Limits(pids=33))
    assert yard.sandbox.refusal(job) is None
    raw = await yard.sandbox.run(job)
    drawn = yard.sandbox.blueprint(job)
    assert (raw.fault, raw.evidence["blueprint"]) == (None, drawn.hash)
    assert drawn.layout.hidden


@pytest.mark.req("SBX-8")
@pytest.mark.parametrize(
    ("script", "started"), [(":", 1), ("wc /dev/null; cat /dev/null", 3), ("cat </dev/null|wc", 3)]
)
async def test_the_host_counts_what_a_call_started(yard: Yard, script: str, started: int) -> None:
    raw = await yard.run("shell", {"script": script})
    assert raw.effects.processes == {"started": started}
    assert raw.effects.document()["processes"] == {"started": started}


@pytest.mark.req("SBX-8")
async def test_what_was_started_before_a_kill_is_counted_and_so_is_its_time(yard: Yard) -> None:
    script = "while :; do :; done & sleep 60"
    raw = await yard.run("shell", {"script": script}, limits=Limits(wall_seconds=1.5, cpu_seconds=30))
    assert raw.fault is not None
    assert raw.fault.code == "wall_limit"
    assert raw.effects.processes == {"started": 3}
    assert raw.effects.cpu_seconds > 0.5


@pytest.mark.req("SBX-6")
async def test_such_a_jail_is_measured_with_its_own_tries(yard: Yard) -> None:
    await yard.output("count", {"text": "x"})
    tries = [jail.opened.posture.inside["tries"] for jail in yard.pool.jails()]
    with_programs = [each for each in tries if "execute itself" in each]
    assert with_programs
    assert all(each["execute itself"] == "EACCES" and "fork" not in each for each in with_programs)


def _processes() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit()]


def _words(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
