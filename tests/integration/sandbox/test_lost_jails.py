"""A jail that dies by itself: its calls are told, the next one has another, and nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ringfence.contract.limits import Limits
from ringfence.errors import CallRefused
from ringfence.execution.edge import Trust
from ringfence.inside.layout import Order
from ringfence.sandbox import exchange, pool
from ringfence.sandbox import jail as jails
from ringfence.sandbox.groups import Lent
from ringfence.sandbox.jail import Jail, Setting, build_jail
from ringfence.sandbox.pool import PoolBounds
from ringfence.sandbox.spare import ready_pid
from ringfence.sandbox.spares import Spares
from ringfence.sandbox.walls import FullWalls
from tests.integration.sandbox.driver import Yard
from tests.integration.sandbox.family import descendants, groups, has_ended, jail_of, members, until

pytestmark = [pytest.mark.req("SBX-9"), pytest.mark.usefixtures("failing_leaves_nothing")]


@pytest.mark.parametrize("victim", ["zygote", "warden", "fork server"])
async def test_a_jail_that_dies_is_replaced_by_the_next_call(tmp_path: Path, victim: str) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    raw = await yard.run("add", {"a": 1, "b": 2})
    jail = jail_of(raw.evidence, yard)
    os.kill(members(jail)[victim], signal.SIGKILL)
    await until(lambda: jail.failure is not None)
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    await yard.close()
    assert descendants() == set()


@pytest.mark.parametrize("victim", ["zygote", "warden", "fork server"])
async def test_a_jail_that_dies_is_let_go_though_nobody_calls(tmp_path: Path, victim: str) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    raw = await yard.run("add", {"a": 1, "b": 2})
    jail, held = jail_of(raw.evidence, yard), len(os.listdir("/proc/self/fd"))
    os.kill(members(jail)[victim], signal.SIGKILL)
    await until(lambda: jail not in yard.pool.jails())
    # Its spare alone has four.
    await until(lambda: len(os.listdir("/proc/self/fd")) <= held - 7)
    await yard.close()
    assert descendants() == set()


@pytest.mark.parametrize("victim", ["zygote", "warden", "fork server"])
async def test_a_call_that_finds_its_jail_dead_is_served_by_another(tmp_path: Path, victim: str) -> None:
    """Nobody had its job, so nothing can have come of it."""
    yard = Yard(state=tmp_path, bounds=PoolBounds(spares=0))
    await yard.load("plain")
    before = await yard.run("add", {"a": 1, "b": 2})
    jail = jail_of(before.evidence, yard)
    await until(lambda: jail.busy == 0)
    assert_dies(members(jail), victim)
    # Until here the loop has heard nothing.
    assert (jail.failure, jail in yard.pool.jails()) == (None, True)
    after = await yard.run("add", {"a": 1, "b": 2})
    assert (after.fault, after.reply) == (None, b"3")
    assert after.evidence["process"]["parent"] != before.evidence["process"]["parent"]
    await yard.close()
    assert descendants() == set()


async def test_a_call_whose_second_jail_is_dead_too_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Jail] = []

    async def build_and_lose(order: Order, *, setting: Setting, trust: Trust | None = None) -> Jail:
        jail = await build_jail(order, setting=setting, trust=trust)
        built.append(jail)
        assert_dies(members(jail), "zygote")
        return jail

    yard = Yard(state=tmp_path, bounds=PoolBounds(spares=0))
    await yard.load("plain")
    monkeypatch.setattr(pool, "build_jail", build_and_lose)
    # Whichever the host hears first.
    gone = ("the jail no longer makes processes: ", "the jail is gone: ")
    code, message = await yard.fault("add", {"a": 1, "b": 2}, limits=Limits(cpu_seconds=2))
    assert (code, message.startswith(gone)) == ("protocol_error", True)
    assert len(built) == 2
    await yard.close()
    assert descendants() == set()


async def test_a_jail_that_is_refused_is_not_built_again_for_the_same_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Order] = []

    async def build_and_forget_a_wall(order: Order, *, setting: Setting, trust: Trust | None = None) -> Jail:
        begun.append(order)
        jail = await build_jail(order, setting=setting, trust=trust)
        monkeypatch.setattr(FullWalls, "check_spare", lack_a_wall)
        return jail

    def lack_a_wall(*_: object, **__: object) -> None:
        raise CallRefused("a spare has a wall too few", code="posture_insufficient")

    yard = Yard(state=tmp_path, bounds=PoolBounds(spares=0))
    await yard.load("plain")
    monkeypatch.setattr(pool, "build_jail", build_and_forget_a_wall)
    limits = Limits(cpu_seconds=2)
    refused = ("posture_insufficient", "a spare has a wall too few")
    assert await yard.fault("add", {"a": 1, "b": 2}, limits=limits) == refused
    assert len(begun) == 1
    await yard.close()
    assert descendants() == set()


def assert_dies(family: Mapping[str, int], victim: str) -> None:
    """Kill one of a jail, and stand still, so that the host hears nothing, until its zygote is dead with it."""
    os.kill(family[victim], signal.SIGKILL)
    deadline = time.monotonic() + 10
    while not has_ended(family["zygote"]):
        assert time.monotonic() < deadline
        os.sched_yield()


@pytest.mark.parametrize("victim", ["zygote", "warden", "fork server"])
async def test_a_call_whose_jail_dies_is_over_as_soon_as_its_process_is(
    tmp_path: Path, victim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_SECONDS_TO_DIE", 3600.0)
    yard = Yard(state=tmp_path)
    await yard.load("greedy")
    before = await yard.run("open_files")
    jail = jail_of(before.evidence, yard)
    used = jail.last_used
    call = asyncio.ensure_future(yard.run("sleep"))
    await until(lambda: jail.last_used > used)  # a process has the job
    os.kill(members(jail)[victim], signal.SIGKILL)
    async with asyncio.timeout(10):
        raw = await call
    assert raw.fault is not None
    assert raw.fault.code == "protocol_error"
    assert jail.busy == 0
    assert has_ended(raw.evidence["process"]["pid"])
    await yard.close()
    assert descendants() == set()


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


def stumble(*_: object, **__: object) -> None:
    raise KeyError("of a kind that nobody foresaw")


async def test_an_answer_that_nobody_foresaw_is_a_refusal_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = Yard(state=tmp_path, bounds=PoolBounds(spares=0))
    await yard.load("plain")
    await yard.output("add", {"a": 1, "b": 2})
    open_before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(Spares, "_admit", stumble)
    async with asyncio.timeout(10):
        code, message = await yard.fault("add", {"a": 1, "b": 2})
    assert (code, message) == ("posture_insufficient", "a spare could not be admitted: KeyError")
    await until(lambda: len(os.listdir("/proc/self/fd")) < open_before)
    monkeypatch.undo()
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    await yard.close()
    assert descendants() == set()


async def test_a_jail_is_not_built_twice_for_a_call_that_has_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_SECONDS_FOR_ANOTHER", -1.0)
    yard = Yard(state=tmp_path, bounds=PoolBounds(spares=0))
    await yard.load("plain")
    before = await yard.run("add", {"a": 1, "b": 2})
    assert_dies(members(jail_of(before.evidence, yard)), "zygote")
    assert (await yard.fault("add", {"a": 1, "b": 2}))[0] == "protocol_error"
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    await yard.close()


async def test_how_long_a_jail_took_to_be_built_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Order] = []

    async def build_at_leisure_and_lose(order: Order, *, setting: Setting, trust: Trust | None = None) -> Jail:
        begun.append(order)
        jail = await build_jail(order, setting=setting, trust=trust)
        await asyncio.sleep(0.5)
        assert_dies(members(jail), "zygote")
        return jail

    yard = Yard(state=tmp_path, bounds=PoolBounds(spares=0))
    await yard.load("plain")
    monkeypatch.setattr(pool, "_SECONDS_FOR_ANOTHER", 0.5)
    monkeypatch.setattr(pool, "build_jail", build_at_leisure_and_lose)
    assert (await yard.fault("add", {"a": 1, "b": 2}, limits=Limits(cpu_seconds=2)))[0] == "protocol_error"
    assert len(begun) == 1
    await yard.close()
    assert descendants() == set()


async def test_an_order_for_which_there_is_no_room_is_sent_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []
    send = socket.send_fds

    def full_at_first(*arguments: Any) -> int:
        tries.append("full" if len(tries) < 3 else "sent")
        if tries[-1] == "full":
            raise BlockingIOError
        return send(*arguments)

    yard = Yard(state=tmp_path, bounds=PoolBounds(spares=0))
    await yard.load("plain")
    monkeypatch.setattr(socket, "send_fds", full_at_first)
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    assert tries[:4] == ["full", "full", "full", "sent"]
    await yard.close()
