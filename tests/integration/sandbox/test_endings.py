"""However a call, a jail or the host ends, nothing of it is left: no process, group, descriptor or file."""

# ruff: noqa: ASYNC110, ASYNC240  a test may look at files while nothing else waits for the loop
from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ringfence.contract.limits import Limits
from ringfence.kernel import cgroups
from ringfence.sandbox import exchange
from ringfence.sandbox import jail as jails
from ringfence.sandbox.groups import Lent
from ringfence.sandbox.jail import Jail
from ringfence.sandbox.pool import PoolBounds
from ringfence.sandbox.spare import ready_pid
from tests.integration.sandbox.driver import Yard

pytestmark = pytest.mark.req("SBX-9")


def descendants() -> set[int]:
    """Every living process below this one."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                fields = ["Z", "0"]
            if fields[0] != "Z":
                parents[int(name)] = int(fields[1])
    found: set[int] = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def groups() -> set[Path]:
    mine = f"ringfence-{os.getpid()}-*"
    return {path for folder in cgroups.find().folders.values() for path in folder.glob(mine)}


async def until(holds: Callable[[], bool]) -> None:
    """Give the kernel a moment to finish; the suite's own time-out bounds it."""
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0.01)


def _has_ended(pid: int) -> bool:
    """Whether no line of its program runs any more; whoever has to may still be about to take note of it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


async def test_closing_leaves_no_process_group_or_descriptor(tmp_path: Path) -> None:
    mounts = Path("/proc/self/mountinfo").read_text()
    open_before, living_before = len(os.listdir("/proc/self/fd")), descendants()
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    await yard.output("add", {"a": 1, "b": 2})
    await yard.output("add", {"a": 1, "b": 2}, agent="ben")
    assert descendants() > living_before
    await yard.close()
    assert descendants() == living_before
    assert groups() == set()
    assert len(os.listdir("/proc/self/fd")) == open_before
    assert Path("/proc/self/mountinfo").read_text() == mounts
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sources"]


async def test_closing_while_calls_run_ends_them(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("greedy")
    running = [asyncio.ensure_future(yard.run("sleep")) for _ in range(3)]
    await until(lambda: sum(jail.busy for jail in yard.pool.jails()) >= 3)
    await yard.close()
    ended = await asyncio.gather(*running)
    assert {raw.fault.code if raw.fault else None for raw in ended} == {"cancelled"}
    assert descendants() == set()
    assert groups() == set()


async def test_cancelling_a_call_kills_its_process(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("greedy")
    await yard.run("open_files")
    call = asyncio.ensure_future(yard.run("spin"))
    await until(lambda: sum(jail.busy for jail in yard.pool.jails()) == 1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: sum(jail.busy for jail in yard.pool.jails()) == 0)
    assert (await yard.run("open_files")).fault is None
    await yard.close()


async def test_a_time_out_kills_the_process_with_all_its_threads(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("nosy")
    raw = await yard.run("hold_threads", {"wanted": 10, "seconds": 60}, limits=Limits(wall_seconds=0.5))
    assert raw.fault is not None
    assert raw.fault.code == "wall_limit"
    assert _has_ended(raw.evidence["process"]["pid"])
    await yard.close()


@pytest.mark.parametrize("victim", ["zygote", "warden", "fork server"])
async def test_a_jail_that_dies_is_replaced_by_the_next_call(tmp_path: Path, victim: str) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    raw = await yard.run("add", {"a": 1, "b": 2})
    jail = _jail_of(raw.evidence, yard)
    os.kill(_members(jail)[victim], signal.SIGKILL)
    await until(lambda: jail.failure is not None)
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    await yard.close()
    assert descendants() == set()


@pytest.mark.parametrize("victim", ["zygote", "warden", "fork server"])
async def test_a_jail_that_dies_is_let_go_though_nobody_calls(tmp_path: Path, victim: str) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    raw = await yard.run("add", {"a": 1, "b": 2})
    jail, held = _jail_of(raw.evidence, yard), len(os.listdir("/proc/self/fd"))
    os.kill(_members(jail)[victim], signal.SIGKILL)
    await until(lambda: jail not in yard.pool.jails())
    # Its spare alone has four.
    await until(lambda: len(os.listdir("/proc/self/fd")) <= held - 7)
    await yard.close()
    assert descendants() == set()


@pytest.mark.parametrize("victim", ["zygote", "warden", "fork server"])
async def test_a_call_whose_jail_dies_is_over_as_soon_as_its_process_is(
    tmp_path: Path, victim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_SECONDS_TO_DIE", 3600.0)
    yard = Yard(state=tmp_path)
    await yard.load("greedy")
    before = await yard.run("open_files")
    jail = _jail_of(before.evidence, yard)
    used = jail.last_used
    call = asyncio.ensure_future(yard.run("sleep"))
    await until(lambda: jail.last_used > used)  # a process has the job
    os.kill(_members(jail)[victim], signal.SIGKILL)
    async with asyncio.timeout(10):
        raw = await call
    assert raw.fault is not None
    assert raw.fault.code == "protocol_error"
    assert jail.busy == 0
    assert _has_ended(raw.evidence["process"]["pid"])
    await yard.close()
    assert descendants() == set()


def _jail_of(evidence: Mapping[str, Any], yard: Yard) -> Jail:
    warden = evidence["process"]["parent"]
    (jail,) = [jail for jail in yard.pool.jails() if jail.opened.posture.zygote.status.parent == warden]
    return jail


def _members(jail: Jail) -> dict[str, int]:
    zygote = jail.opened.posture.zygote
    warden = zygote.status.parent
    server = int(Path(f"/proc/{warden}/stat").read_text().rpartition(")")[2].split()[1])
    return {"zygote": zygote.pid, "warden": warden, "fork server": server}


async def test_the_longest_unused_jail_makes_room(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path, bounds=PoolBounds(jails=2))
    await yard.load("plain")
    for agent in ("ana", "ben", "cid", "dan"):
        await yard.output("add", {"a": 1, "b": 2}, agent=agent)
    assert len(yard.pool.jails()) == 2
    await yard.close()
    assert descendants() == set()


HOST = """
import asyncio, sys, pathlib
sys.path[:0] = [{root!r}, {source!r}]
from tests.integration.sandbox.driver import Yard
async def main():
    yard = Yard(state=pathlib.Path({state!r}))
    await yard.load("greedy")
    call = asyncio.ensure_future(yard.run("sleep"))
    while not sum(jail.busy for jail in yard.pool.jails()):
        await asyncio.sleep(0.01)
    print("running", flush=True)
    await call
asyncio.run(main())
"""


async def test_when_the_host_is_killed_its_jails_die_with_it(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    script = HOST.format(root=str(root), source=str(root / "src"), state=str(tmp_path))
    host = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)  # noqa: ASYNC220
    assert host.stdout is not None
    assert host.stdout.readline() == b"running\n"
    born = descendants() - {host.pid}
    assert born
    host.kill()
    host.wait()
    host.stdout.close()
    await until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in born))


@pytest.mark.req("SBX-10")
async def test_too_many_waiting_calls_are_turned_away(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path, bounds=PoolBounds(running=1, waiting=1))
    await yard.load("plain")
    raws = await asyncio.gather(*(yard.run("add", {"a": 1, "b": 2}) for _ in range(4)))
    codes = sorted(raw.fault.code if raw.fault else "" for raw in raws)
    assert codes == ["", "", "queue_full", "queue_full"]
    await yard.close()


async def test_waiting_processes_that_died_are_passed_over(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    warden, zygote = await called(yard, times=4)
    await until(lambda: len(waiting_in(warden, zygote=zygote)) == 4)
    killed = set(waiting_in(warden, zygote=zygote))
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    await until(lambda: not killed & descendants())
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    await yard.close()
    assert descendants() == set()


@pytest.mark.parametrize(("calls", "waiting"), [(1, 1), (2, 2), (7, 4)])
async def test_as_many_wait_as_there_were_calls_up_to_the_bound(tmp_path: Path, calls: int, waiting: int) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    warden, zygote = await called(yard, times=calls)
    await until(lambda: len(waiting_in(warden, zygote=zygote)) == waiting)
    await asyncio.sleep(0.2)
    assert len(waiting_in(warden, zygote=zygote)) == waiting
    await yard.close()


async def test_where_none_is_kept_every_call_has_one_made(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path, bounds=PoolBounds(spares=0))
    await yard.load("plain")
    answers = [yard.output("add", {"a": 1, "b": number}) for number in range(6)]
    async with asyncio.timeout(30):
        assert await asyncio.gather(*answers) == [1 + number for number in range(6)]
    warden, zygote = await called(yard, times=2)
    await until(lambda: waiting_in(warden, zygote=zygote) == [])
    await yard.close()


async def test_an_import_that_lets_nothing_be_rehearsed_is_served_all_the_same(tmp_path: Path) -> None:
    """What makes spares cheaper is worth neither a zygote nor a spare."""
    yard = Yard(state=tmp_path)
    await yard.load("unrehearsed")
    said: set[int] = set()
    for _ in range(6):
        said.add(await yard.output("unrehearsed"))
        await asyncio.sleep(0.03)
    assert len(said) == 1  # a zygote that fails is replaced, and imports anew
    raw = await yard.run("unrehearsed")
    zygote = _jail_of(raw.evidence, yard).opened.posture.zygote
    await asyncio.sleep(0.05)  # until whoever served is gone, and the next is born
    waiting = set(waiting_in(zygote.status.parent, zygote=zygote.pid))
    await asyncio.sleep(0.05)
    assert len(waiting) == 4
    assert set(waiting_in(zygote.status.parent, zygote=zygote.pid)) == waiting
    await yard.close()


async def called(yard: Yard, *, times: int) -> tuple[int, int]:
    """Call a tool so often; gives the warden and the zygote of the jail that served it."""
    wardens = {(await yard.run("add", {"a": 1, "b": 2})).evidence["process"]["parent"] for _ in range(times)}
    zygotes = [jail.opened.posture.zygote for jail in yard.pool.jails()]
    (zygote,) = [each for each in zygotes if each.status.parent in wardens]
    return zygote.status.parent, zygote.pid


def waiting_in(warden: int, *, zygote: int) -> list[int]:
    return [pid for pid in descendants() if parent_of(pid) == warden and pid != zygote]


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


async def test_many_calls_with_some_cancelled_at_random_leave_nothing(tmp_path: Path) -> None:
    open_before = len(os.listdir("/proc/self/fd"))
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    calls = [asyncio.ensure_future(yard.run("add", {"a": number, "b": 1})) for number in range(60)]
    for number, call in enumerate(calls):
        if number % 3 == 0:
            await asyncio.sleep(0)
            call.cancel()
    ended = await asyncio.gather(*calls, return_exceptions=True)
    replies = [each.reply for each in ended if not isinstance(each, BaseException)]
    assert replies == [str(number + 1).encode() for number in range(60) if number % 3]
    await yard.close()
    assert descendants() == set()
    assert groups() == set()
    assert len(os.listdir("/proc/self/fd")) == open_before


@pytest.fixture
def gone() -> int:
    """The pid of a process that has ended."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


async def test_groups_of_a_host_that_was_killed_are_swept_by_the_next(tmp_path: Path, gone: int) -> None:
    (folder,) = cgroups.find().folders.values()
    stale, reused = folder / f"ringfence-{gone}-1-0", folder / f"ringfence-{os.getpid()}-1-0"
    for group in (stale, reused):
        group.mkdir()
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    assert (stale.exists(), reused.exists()) == (False, False)
    assert groups() != set()
    await yard.close()
    assert groups() == set()


async def _fails_once(yard: Yard, *, until: pytest.MonkeyPatch) -> None:
    """The call is a failed one, and the next, with the patch undone, is served as ever."""
    raw = await yard.run("add", {"a": 1, "b": 2})
    until.undo()
    assert raw.fault is not None
    assert raw.fault.code == "protocol_error"
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    await yard.close()


async def test_a_zygote_that_is_killed_before_it_reads_is_a_failed_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = Jail._measure  # pyright: ignore[reportPrivateUsage]

    async def measure_and_stop(jail: Jail) -> object:
        seen = await measured(jail)
        zygote = jail._zygote  # pyright: ignore[reportPrivateUsage]
        assert zygote is not None
        os.kill(zygote.pid, signal.SIGSTOP)
        # By then it has been sent an order, and dies without having read it.
        asyncio.get_running_loop().call_later(0.1, os.kill, zygote.pid, signal.SIGKILL)
        return seen

    yard = Yard(state=tmp_path)
    await yard.load("plain")
    monkeypatch.setattr(Jail, "_measure", measure_and_stop)
    await _fails_once(yard, until=monkeypatch)


async def test_a_zygote_that_is_gone_before_it_was_seen_is_a_failed_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ready_and_gone(channel: socket.socket) -> int:
        pid = ready_pid(channel)
        os.kill(pid, signal.SIGKILL)
        while os.path.exists(f"/proc/{pid}"):
            os.sched_yield()
        return pid

    yard = Yard(state=tmp_path)
    await yard.load("plain")
    monkeypatch.setattr(jails, "ready_pid", ready_and_gone)
    await _fails_once(yard, until=monkeypatch)
    assert groups() == set()


async def test_a_process_that_is_ready_before_its_zygote_was_seen_waits_to_be_admitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    see = Jail._see_zygote  # pyright: ignore[reportPrivateUsage]

    async def see_late(jail: Jail, group: Lent | None) -> object:
        asked = jail._spares._asked  # pyright: ignore[reportPrivateUsage]
        await until(lambda: bool(select.select([ends.channel for ends in asked], [], [], 0)[0]))
        return await see(jail, group)

    yard = Yard(state=tmp_path)
    await yard.load("plain")
    monkeypatch.setattr(Jail, "_see_zygote", see_late)
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    await yard.close()
