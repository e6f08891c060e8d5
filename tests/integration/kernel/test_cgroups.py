"""A real control group below this process's own bounds, measures and kills; version 1 here, and never at a root."""

from __future__ import annotations

import mmap
import os
import select
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ringfence.kernel import cgroups
from ringfence.kernel.cgroups import Group, GroupLimits, Hierarchy
from ringfence.kernel.namespaces import NEW_USER
from tests.integration.kernel.children import in_child

pytestmark = pytest.mark.req("SBX-3")

LIMIT = 32 << 20
MOST_SECONDS = 5


@pytest.fixture
def group() -> Iterator[Group]:
    found = cgroups.find()
    memory = Hierarchy(version=found.version, folders={"memory": found.folders["memory"]})
    made = cgroups.create(memory, name=f"ringfence-test-{os.getpid()}", limits=GroupLimits(memory_bytes=LIMIT))
    yield made
    # Not by `cgroups.kill`, which a test may just have found wanting.
    while left := cgroups.members(made):
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    cgroups.remove(made)


def attached(group: Group, *, act: Callable[[], object]) -> int:
    """A child that is put into the group, then acts."""
    gate, opened = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(opened)
        os.read(gate, 1)
        act()
        os._exit(0)
    cgroups.attach(group, pid=pid)
    os.close(gate)
    os.close(opened)
    return pid


def touch(size: int) -> None:
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(0, size, mmap.PAGESIZE):
        memory[page] = 1


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_the_group_lies_below_this_processs_own(group: Group) -> None:
    own = next(line for line in Path("/proc/self/cgroup").read_text().splitlines() if ":memory:" in line)
    (place,) = group.places
    assert str(place.parent).endswith(own.split(":", 2)[2])
    assert own.split(":", 2)[2] != "/"


def test_a_controller_at_the_root_is_left_alone_and_said_to_be_missing() -> None:
    at_root = {
        name
        for line in Path("/proc/self/cgroup").read_text().splitlines()
        for name in line.split(":")[1].split(",")
        if line.endswith(":/") and name in cgroups.WANTED
    }
    found = cgroups.find()
    assert at_root <= set(found.missing)
    assert at_root.isdisjoint(found.folders)


def test_swap_does_not_widen_the_bound(group: Group) -> None:
    (place,) = group.places
    assert int((place / "memory.memsw.limit_in_bytes").read_text()) == LIMIT


def test_a_user_to_whom_nothing_is_delegated_is_told_so() -> None:
    def look() -> list[object]:
        found = cgroups.find()
        return [
            len(found.folders),
            found.missing["memory"].reason.rpartition("`")[2],
            bool(found.missing["memory"].remedy),
        ]

    assert in_child(look, flags=NEW_USER) == [0, " is not writable", True]


def test_a_process_within_its_bound_lives_and_its_peak_is_measured(group: Group) -> None:
    assert ended(attached(group, act=lambda: touch(LIMIT // 2))) == 0
    usage = cgroups.read_usage(group)
    assert usage.memory_kills == 0
    assert usage.peak_memory_bytes is not None
    assert LIMIT // 2 <= usage.peak_memory_bytes <= LIMIT


def test_a_process_beyond_its_bound_is_killed_and_the_kill_is_counted(group: Group) -> None:
    assert ended(attached(group, act=lambda: touch(2 * LIMIT))) == -9
    assert (cgroups.read_usage(group).memory_kills or 0) >= 1


def test_a_kill_ends_the_whole_tree(group: Group) -> None:
    ready, told = os.pipe()

    def act() -> None:
        for _ in range(2):
            os.fork()
        os.write(told, b"x")
        os.read(os.pipe()[0], 1)

    pid = attached(group, act=act)
    os.close(told)
    for _ in range(4):
        os.read(ready, 1)
    assert len(cgroups.members(group)) == 4
    cgroups.kill(group)
    # The reading end sees the end of file when the last of the four is gone.
    assert select.select([ready], [], [], MOST_SECONDS)[0] == [ready]
    assert (os.read(ready, 1), ended(pid)) == (b"", -9)
    os.close(ready)


def test_a_group_in_use_is_not_removed(group: Group) -> None:
    pid = attached(group, act=lambda: os.read(os.pipe()[0], 1))
    with pytest.raises(OSError, match="busy"):
        cgroups.remove(group)
    cgroups.kill(group)
    assert ended(pid) == -9
