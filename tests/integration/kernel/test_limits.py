"""A child that bound itself cannot use more, hold more, or take it back."""

from __future__ import annotations

import mmap
import os
import resource
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ringfence.kernel import limits
from ringfence.kernel.limits import ResourceLimits
from ringfence.kernel.namespaces import NEW_USER
from ringfence.kernel.status import read_status
from tests.integration.kernel.children import errno_of, in_child

pytestmark = pytest.mark.req("SBX-3")

WIDE = ResourceLimits(
    cpu_seconds=60,
    data_bytes=4 << 30,
    stack_bytes=8 << 20,
    file_bytes=64 << 20,
    open_files=256,
    processes=4096,
    pending_signals=64,
)


def bound(act: Callable[[], object], *, by: ResourceLimits, flags: int = 0) -> object:
    def play() -> object:
        limits.apply(by)
        return act()

    return in_child(play, flags=flags)


def test_every_limit_is_set_hard() -> None:
    kinds = (
        "RLIMIT_DATA",
        "RLIMIT_STACK",
        "RLIMIT_FSIZE",
        "RLIMIT_NOFILE",
        "RLIMIT_NPROC",
        "RLIMIT_SIGPENDING",
        "RLIMIT_CORE",
        "RLIMIT_MEMLOCK",
        "RLIMIT_MSGQUEUE",
        "RLIMIT_CPU",
    )
    read = lambda: [resource.getrlimit(getattr(resource, kind)) for kind in kinds]  # noqa: E731
    assert bound(read, by=WIDE) == [
        [4 << 30] * 2,
        [8 << 20] * 2,
        [64 << 20] * 2,
        [256] * 2,
        [4096] * 2,
        [64] * 2,
        [0, 0],
        [0, 0],
        [0, 0],
        [60, 61],
    ]


def allocate() -> str:
    return errno_of(lambda: mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


def test_memory_is_bounded() -> None:
    assert bound(allocate, by=WIDE) == "done"
    assert bound(allocate, by=replace(WIDE, data_bytes=256 << 20)) == "ENOMEM"


def test_open_files_are_bounded() -> None:
    open_many = lambda: errno_of(lambda: [os.dup(0) for _ in range(100)])  # noqa: E731
    assert bound(open_many, by=WIDE) == "done"
    assert bound(open_many, by=replace(WIDE, open_files=32)) == "EMFILE"


def test_file_size_is_bounded(tmp_path: Path) -> None:
    def grow(name: str) -> str:
        (tmp_path / name).touch()
        return errno_of(lambda: os.truncate(tmp_path / name, 1 << 20))

    assert bound(lambda: grow("wide"), by=WIDE) == "done"
    assert bound(lambda: grow("narrow"), by=replace(WIDE, file_bytes=1 << 10)) == "EFBIG"


def spin() -> None:
    while True:
        hash(object())


def test_cpu_time_ends_a_process_that_spins() -> None:
    assert bound(spin, by=replace(WIDE, cpu_seconds=1)) == "SIGXCPU"


def start_threads() -> str:
    gate = threading.Event()
    try:
        for _ in range(30):
            threading.Thread(target=gate.wait, daemon=True).start()
    except RuntimeError as refusal:
        return str(refusal)
    finally:
        gate.set()
    return "done"


def test_threads_are_bounded_in_a_user_namespace() -> None:
    assert bound(start_threads, by=WIDE, flags=NEW_USER) == "done"
    assert bound(start_threads, by=replace(WIDE, processes=10), flags=NEW_USER) == "can't start new thread"


def test_only_the_named_descriptors_stay_open() -> None:
    def open_after_closing(kept: tuple[int, ...]) -> list[int]:
        pid = os.fork()
        if pid == 0:
            for high in (200, 201, 900):
                os.dup2(2, high)
            limits.close_all_except(kept)
            still = [number for number in range(1000) if errno_of(lambda: os.fstat(number)) == "done"]  # noqa: B023
            os._exit(0 if still == sorted(kept) else 1)
        return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]

    for kept in ((0, 1, 2), (1, 201), (900,), ()):
        assert in_child(lambda: open_after_closing(kept)) == [0]  # noqa: B023


def test_no_capability_is_left() -> None:
    def drop() -> list[int]:
        limits.empty_bounding_set()
        limits.drop_capabilities()
        now = read_status(os.getpid())
        return [now.effective, now.permitted, now.inheritable, now.ambient, now.bounding]

    assert in_child(drop, flags=NEW_USER) == [0, 0, 0, 0, 0]
    assert read_status(os.getpid()).effective != 0


def test_a_process_without_capabilities_cannot_empty_its_bounding_set() -> None:
    def drop() -> str:
        limits.drop_capabilities()
        return errno_of(limits.empty_bounding_set)

    assert in_child(drop, flags=NEW_USER) == "EPERM"


def test_no_new_privileges_is_seen_from_outside() -> None:
    def promise() -> int:
        limits.set_no_new_privileges()
        return read_status(os.getpid()).no_new_privileges

    assert in_child(promise) == 1
    assert in_child(lambda: read_status(os.getpid()).no_new_privileges) == 0
