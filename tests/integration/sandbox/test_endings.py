"""However a call, a jail or the host ends, nothing of it is left: no process, group, descriptor or file."""

# ruff: noqa: ASYNC240  a test may look at files while nothing else waits for the loop
from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ringfence.contract.limits import Limits
from ringfence.kernel import cgroups
from ringfence.sandbox.pool import PoolBounds
from tests.integration.sandbox.driver import Yard
from tests.integration.sandbox.family import called, descendants, groups, has_ended, jail_of, settled, until, waiting_in

pytestmark = [pytest.mark.req("SBX-9"), pytest.mark.usefixtures("failing_leaves_nothing")]


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
    assert has_ended(raw.evidence["process"]["pid"])
    await yard.close()


async def test_the_longest_unused_jail_makes_room(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path, bounds=PoolBounds(jails=2))
    await yard.load("plain")
    for agent in ("ana", "ben", "ana"):
        await yard.output("add", {"a": 1, "b": 2}, agent=agent)
    await until(lambda: len(yard.pool.jails()) == 2)  # the one in which the module was described has gone
    of_ana, of_ben = yard.pool.jails()
    await yard.output("add", {"a": 1, "b": 2}, agent="cid")
    await until(lambda: len(yard.pool.jails()) == 2)
    assert of_ana in yard.pool.jails()
    assert of_ben not in yard.pool.jails()
    await yard.close()
    assert descendants() == set()


async def test_one_jail_at_most_is_still_to_make_room_when_the_next_is_built(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path, bounds=PoolBounds(jails=2))
    await yard.load("plain")
    for number in range(8):
        await yard.output("add", {"a": 1, "b": 2}, agent=f"agent-{number}")
        assert len(yard.pool.jails()) <= 3
    await until(lambda: len(yard.pool.jails()) == 2)
    await yard.close()
    assert descendants() == set()


async def test_jails_that_hold_too_much_memory_make_room_but_for_the_last(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path, bounds=PoolBounds(memory_bytes=1))
    await yard.load("plain")
    for agent in ("ana", "ben"):
        await yard.output("add", {"a": 1, "b": 2}, agent=agent)
    of_ben = yard.pool.jails()[-1]
    await until(lambda: yard.pool.jails() == (of_ben,))
    await asyncio.sleep(0.2)  # as long as it takes to look again, four times
    assert yard.pool.jails() == (of_ben,)
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
    killed = await settled(warden, zygote=zygote, processes=4)
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
    assert len(await settled(warden, zygote=zygote, processes=waiting)) == waiting
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
    zygote = jail_of(raw.evidence, yard).opened.posture.zygote
    assert len(await settled(zygote.status.parent, zygote=zygote.pid, processes=4)) == 4
    await yard.close()


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
