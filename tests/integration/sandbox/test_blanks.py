"""A jail that nobody has ordered yet: it becomes exactly one jail, is passed over where it is of no use, and ends."""

# ruff: noqa: ASYNC240  a test may look at files while nothing else waits for the loop
from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from ringfence.inside.layout import Order
from ringfence.kernel import mounts
from ringfence.kernel.syscalls import call
from ringfence.sandbox.jail import Jail, build_jail
from tests.integration.sandbox.driver import Yard
from tests.integration.sandbox.family import descendants, until

pytestmark = pytest.mark.req("SBX-9")


@pytest_asyncio.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    """A sandbox with one jail, and a blank that waits for the next."""
    opened = Yard(state=tmp_path)
    try:
        await opened.load("plain")
        assert await opened.output("add", {"a": 1, "b": 2}) == 3
        await until(lambda: len(blanks(opened)) == 1)
        yield opened
    finally:
        await opened.close()


def children(pid: int) -> set[int]:
    try:
        return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except FileNotFoundError:
        return set()


def wardens(yard: Yard) -> set[int]:
    return {jail.opened.posture.zygote.status.parent for jail in yard.pool.jails()}


def blanks(yard: Yard) -> set[int]:
    """Whatever the fork server bore that is no jail, once it has a zygote of its own that waits."""
    return {pid for pid in children(fork_server(yard)) - wardens(yard) if children(pid)}


def fork_server(yard: Yard) -> int:
    (known,) = {parent_of(warden) for warden in wardens(yard)}
    return known


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def test_a_blank_becomes_the_next_jail_and_then_another_waits(yard: Yard) -> None:
    (blank,) = blanks(yard)
    before = wardens(yard)
    assert await yard.output("add", {"a": 1, "b": 2}, agent="ben") == 3
    assert wardens(yard) - before == {blank}
    await until(lambda: len(blanks(yard)) == 1)
    assert blanks(yard).isdisjoint({blank})


async def test_the_next_one_is_made_though_the_host_is_busy_with_something_else(yard: Yard) -> None:
    (blank,) = blanks(yard)
    assert await yard.output("add", {"a": 1, "b": 2}, agent="ben") == 3
    given_up = time.monotonic() + 10
    while not blanks(yard) - {blank}:  # nothing of the host's loop runs meanwhile
        assert time.monotonic() < given_up
        time.sleep(0.01)  # noqa: ASYNC251  the host is kept busy on purpose


async def test_calls_of_one_jail_leave_the_blank_alone(yard: Yard) -> None:
    before = blanks(yard)
    for number in range(3):
        assert await yard.output("add", {"a": number, "b": 0}) == number
    assert blanks(yard) == before


@pytest.mark.parametrize("victim", ["warden", "zygote"])
async def test_a_blank_that_died_is_passed_over(yard: Yard, victim: str) -> None:
    (blank,) = blanks(yard)
    (zygote,) = children(blank)
    os.kill({"warden": blank, "zygote": zygote}[victim], signal.SIGKILL)
    await until(lambda: not Path(f"/proc/{blank}").exists())
    assert await yard.output("add", {"a": 1, "b": 2}, agent="ben") == 3


async def test_two_orders_at_once_are_two_jails(yard: Yard) -> None:
    before = wardens(yard)
    said = await asyncio.gather(*(yard.output("add", {"a": 1, "b": 2}, agent=agent) for agent in ("ben", "cid")))
    assert said == [3, 3]
    assert len(wardens(yard) - before) == 2


async def test_closing_ends_the_blank_before_it_is_done(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    await yard.output("add", {"a": 1, "b": 2})
    await until(lambda: len(blanks(yard)) == 1)
    await yard.close()
    assert descendants() == set()


async def test_a_fork_server_that_is_killed_takes_the_blank_with_it(yard: Yard) -> None:
    (blank,) = blanks(yard)
    (zygote,) = children(blank)
    os.kill(fork_server(yard), signal.SIGKILL)
    await until(lambda: not Path(f"/proc/{blank}").exists())
    assert not Path(f"/proc/{zygote}").exists()


@pytest.mark.req("SBX-2")
async def test_a_blank_holds_no_way_to_the_host_and_no_environment(yard: Yard) -> None:
    (blank,) = blanks(yard)
    (zygote,) = children(blank)
    # The blank keeps one more for its zygote: by it the kernel knows what not to map there.
    kept = {blank: 7, zygote: 4}
    # One that was just born has yet to close what it was born with.
    await until(lambda: all(len(os.listdir(f"/proc/{process}/fd")) == most for process, most in kept.items()))
    of_fork_server = held(fork_server(yard))
    of_host = held(os.getpid())
    for process in kept:
        # A life that ends is heard by the blank alone; both ends of a pipe have one name.
        assert {name for name in held(process) & of_fork_server if name.startswith("socket:")} == set()
        assert held(process) & of_host == set()
        assert Path(f"/proc/{process}/environ").read_bytes() == b""


def held(pid: int) -> set[str]:
    """Sockets and pipes of a process, by the kernel's names for them."""
    folder = f"/proc/{pid}/fd"
    names = {
        os.readlink(f"{folder}/{number}") for number in os.listdir(folder) if os.path.lexists(f"{folder}/{number}")
    }
    return {name for name in names if name.startswith(("socket:", "pipe:"))}


@pytest.mark.req("SBX-3")
@pytest.mark.parametrize("state", ["waits", "died"])
async def test_a_blank_does_not_outlast_the_mounts_that_it_copied(yard: Yard, tmp_path: Path, state: str) -> None:
    (blank,) = blanks(yard)
    if state == "died":
        os.kill(blank, signal.SIGKILL)
    place = tmp_path / "mounted"
    place.mkdir()
    mounts.mount_scratch(str(place), size_bytes=1 << 16, inodes=16)
    try:
        await until(lambda: not Path(f"/proc/{blank}").exists())
        before = wardens(yard)
        assert await yard.output("add", {"a": 1, "b": 2}, agent="ben") == 3
        assert wardens(yard) > before
    finally:
        call("umount2", os.fsencode(place), 0)


@pytest.mark.req("SBX-6")
async def test_a_zygote_that_cannot_give_up_what_it_must_says_why(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_more_files_than_there_are(order: Order, **rest: Any) -> Coroutine[Any, Any, Jail]:
        bounds = replace(order.layout.bounds, open_files=1 << 40)
        return build_jail(replace(order, layout=replace(order.layout, bounds=bounds)), **rest)

    monkeypatch.setattr("ringfence.sandbox.pool.build_jail", with_more_files_than_there_are)
    raw = await yard.run("add", {"a": 1, "b": 2}, agent="ben")
    assert raw.fault is not None
    assert raw.fault.code == "posture_insufficient"
    assert "could not be confined" in raw.fault.message
    assert "maximum limit" in raw.fault.message
