"""A host may open so many files and no more: jails share what there is, and whoever finds none left is told so."""

from __future__ import annotations

import _socket
import errno
import os
import resource
import socket
from array import array
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from ringfence.execution.traces import left_nothing
from ringfence.inside.wire import Kind, pack
from ringfence.sandbox import spares
from ringfence.sandbox.floor import Floor
from ringfence.sandbox.jail import Jail
from ringfence.sandbox.processes import Held
from ringfence.sandbox.spare import ready_with
from tests.integration.sandbox.driver import Yard
from tests.integration.sandbox.family import descendants, until
from tests.integration.sandbox.test_files import PERMITS, furnish

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.req("SBX-10"),
    pytest.mark.usefixtures("failing_leaves_nothing"),
]

AGENTS = [f"agent-{number}" for number in range(20)]


def held() -> int:
    return len(os.listdir("/proc/self/fd")) - 1  # less the one that lists them


@contextmanager
def at_most(descriptors: int) -> Generator[None]:
    """As after `ulimit -n`: what is open stays open, and nothing is opened beyond it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Fillers:
    """Descriptors of nothing in particular, in the place of all that are free."""

    def __init__(self) -> None:
        self._held: list[int] = []

    def fill(self) -> None:
        with suppress(OSError):
            while True:
                self._held.append(os.dup(2))

    def close(self) -> None:
        for filler in self._held:
            os.close(filler)


@contextmanager
def none_left() -> Generator[Fillers]:
    """Nothing more can be opened; what is closed meanwhile is free until it is filled again."""
    with closing(Fillers()) as fillers, at_most(max(map(int, os.listdir("/proc/self/fd"))) + 1):
        fillers.fill()
        yield fillers


async def test_more_agents_are_served_than_descriptors_would_reach_for(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    with at_most(256):
        for _ in range(4):  # as many as there are spares at most
            for agent in AGENTS:
                assert await yard.output("add", {"a": 1, "b": 2}, agent=agent) == 3
                assert held() < 256
        assert 1 < len(yard.pool.jails()) < len(AGENTS)
    await yard.close()
    assert descendants() == set()


async def test_a_host_without_descriptors_says_what_is_missing(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    before = held()
    with none_left():
        raw = await yard.run("add", {"a": 1, "b": 2})
    assert raw.fault is not None
    assert raw.fault.code == "not_available"
    assert raw.fault.remedy is not None
    assert ["`ulimit -n`" in text for text in (raw.fault.message, raw.fault.remedy)] == [True, True]
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    await yard.close()
    assert held() < before
    assert descendants() == set()


async def jail_of(yard: Yard) -> Jail:
    """The one that serves `add`, after so many calls that it keeps all its spares."""
    for _ in range(3):
        await yard.output("add", {"a": 1, "b": 2})
    raw = await yard.run("add", {"a": 1, "b": 2})
    warden = raw.evidence["process"]["parent"]
    (jail,) = [each for each in yard.pool.jails() if each.opened.posture.zygote.status.parent == warden]
    return jail


async def test_a_jail_outlives_the_want_of_descriptors(tmp_path: Path) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    jail = await jail_of(yard)
    codes: list[str] = []
    with none_left() as fillers:
        while not codes or not codes[-1]:
            raw = await yard.run("add", {"a": 1, "b": 2})
            codes.append(raw.fault.code if raw.fault else "")
            fillers.fill()
    assert codes[-1] == "not_available"
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    assert jail in yard.pool.jails()
    assert jail.failure is None
    await until(lambda: jail.busy == 0)
    await yard.close()
    assert descendants() == set()


def none_to_be_had(pid: int) -> Held:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


async def test_a_spare_that_nobody_could_hold_says_nothing_against_its_jail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = Yard(state=tmp_path)
    await yard.load("plain")
    jail = await jail_of(yard)

    with monkeypatch.context() as patched:
        patched.setattr(spares, "Held", none_to_be_had)
        raws = [await yard.run("add", {"a": 1, "b": 2}) for _ in range(12)]
    assert [raw.fault.code for raw in raws if raw.fault][-4:] == ["not_available"] * 4
    assert await yard.output("add", {"a": 1, "b": 2}) == 3
    assert jail in yard.pool.jails()
    assert jail.failure is None
    await yard.close()
    assert descendants() == set()


@pytest.mark.req("IDM-3")
async def test_a_job_that_no_process_was_given_has_changed_nothing_for_certain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = furnish(tmp_path / "ana", owner=os.geteuid())
    yard = Yard(state=tmp_path / "state", workspaces={"ana": str(workspace)}, permits=PERMITS, floor=Floor(homes={}))
    await yard.load("filing")
    note = {"path": "outbox/note", "text": "a"}
    assert await yard.output("write_note", note) == ["note"]
    standing = yard.pool.jails()
    with monkeypatch.context() as patched:
        patched.setattr(spares, "Held", none_to_be_had)
        # Whoever waited already serves first.
        raws = [await yard.run("write_note", note) for _ in range(12)]
    assert yard.pool.jails() == standing
    assert raws[-1].fault is not None
    assert raws[-1].fault.code == "not_available"
    assert left_nothing(yard.job("write_note", note).grant, raws[-1].effects)
    await yard.close()


async def test_a_message_that_the_kernel_cut_for_want_of_descriptors_is_no_other_message() -> None:
    ours, theirs = _socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    handed_out = array("i", [0, 1, 2])
    theirs.sendmsg([pack(Kind.READY)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handed_out)])
    before = held()
    with none_left(), pytest.raises(OSError, match="Too many open files"):
        ready_with(ours, most=len(handed_out))
    assert held() == before
    ours.close()
    theirs.close()
