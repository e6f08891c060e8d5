"""Memory is gathered into large pages where it is there already, and is what it was."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256

import pytest

from ringfence.errors import RingfenceError
from ringfence.kernel import large_pages, proc

pytestmark = pytest.mark.req("SBX-2")
LARGE = 2 << 20
STRETCHES = 4
MOST = 128 << 20
# One more than are looked at: a mapping begins where it happens to.
LENGTH = (STRETCHES + 1) * LARGE


@pytest.fixture
def memory() -> Iterator[mmap.mmap]:
    mapped = mmap.mmap(-1, LENGTH, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    yield mapped
    mapped.close()


def first_whole(memory: mmap.mmap) -> int:
    """Where in the mapping its first whole stretch begins."""
    view = ctypes.c_char.from_buffer(memory)
    start = ctypes.addressof(view)
    del view
    return -start % LARGE


def kept_in_large(memory: mmap.mmap) -> int:
    """How many KiB of the mapping that holds this memory are in large pages."""
    view = ctypes.c_char.from_buffer(memory)
    address, inside = ctypes.addressof(view), False
    del view
    with open("/proc/self/smaps", encoding="utf-8") as lines:
        for line in lines:
            first, *rest = line.split()
            if "-" in first and ":" not in first:
                start, end = (int(each, 16) for each in first.split("-"))
                inside = start <= address < end
            elif inside and first == "AnonHugePages:":
                return int(rest[0])
    raise AssertionError("the memory is mapped nowhere")


def present(memory: mmap.mmap) -> int:
    view = ctypes.c_char.from_buffer(memory)
    start = ctypes.addressof(view)
    del view
    with open("/proc/self/pagemap", "rb", buffering=0) as pages:
        told = os.pread(pages.fileno(), LENGTH // mmap.PAGESIZE * 8, start // mmap.PAGESIZE * 8)
    return sum(last >= 0x80 for last in told[7::8])


def test_what_is_there_is_gathered_and_is_what_it_was(memory: mmap.mmap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_pages, "_MOST_BYTES", 1 << 40)  # whatever else this process holds
    memory.write(os.urandom(LENGTH))
    before = sha256(memory).digest()
    assert large_pages.gather() >= STRETCHES
    assert kept_in_large(memory) >= STRETCHES * LARGE // 1024
    assert sha256(memory).digest() == before
    memory[0:1] = b"\0"  # and it can be written to as before
    assert memory[0] == 0


def test_what_is_empty_for_the_most_part_stays_so(memory: mmap.mmap) -> None:
    for stretch in range(STRETCHES):
        memory[first_whole(memory) + stretch * LARGE] = 1
    before = present(memory)
    large_pages.gather()
    assert present(memory) == before


def test_whoever_wants_no_large_pages_gets_none_and_others_do(
    memory: mmap.mmap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_pages, "_MOST_BYTES", 1 << 40)
    memory.write(b"x" * LENGTH)
    with closing(mmap.mmap(-1, LENGTH, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)) as unwilling:
        unwilling.madvise(mmap.MADV_NOHUGEPAGE)
        unwilling.write(b"x" * LENGTH)
        large_pages.gather()
        assert kept_in_large(unwilling) == 0
    assert kept_in_large(memory) >= STRETCHES * LARGE // 1024


def test_no_more_is_gathered_than_a_runtime_has(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def done(_name: str, _start: int, length: int, _advice: int) -> int:
        lengths.append(length)
        return 0

    with closing(mmap.mmap(-1, 2 * MOST, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        memory.write(b"x" * (2 * MOST))
        monkeypatch.setattr(large_pages, "call", done)
        assert large_pages.gather() == MOST // LARGE
    assert sum(lengths) == MOST


def test_where_an_administrator_turned_it_off_nothing_is_gathered(
    memory: mmap.mmap, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.write(b"x" * LENGTH)
    before = kept_in_large(memory)

    def turned_off(_path: str) -> bytes:
        return b"always madvise [never]\n"

    monkeypatch.setattr(proc, "read", turned_off)
    assert large_pages.gather() == 0
    assert kept_in_large(memory) == before


NOT_KNOWN = RingfenceError("not this machine", code="posture_insufficient")


@pytest.mark.parametrize("failure", [OSError(errno.EINVAL, "madvise"), OSError(errno.EPERM, "madvise"), NOT_KNOWN])
def test_a_kernel_that_cannot_leaves_memory_as_it_is(
    memory: mmap.mmap, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    memory.write(b"x" * LENGTH)
    asked: list[int] = []

    def refused(_name: str, start: int, *_rest: int) -> int:
        asked.append(start)
        raise failure

    monkeypatch.setattr(large_pages, "call", refused)
    assert large_pages.gather() == 0
    assert asked


def test_one_stretch_that_is_busy_keeps_no_other_from_being_gathered(
    memory: mmap.mmap, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.write(b"x" * LENGTH)
    asked: list[int] = []

    def busy(_name: str, start: int, *_rest: int) -> int:
        asked.append(start)
        if len(asked) == 1:
            raise OSError(errno.EAGAIN, "madvise")
        return 0

    monkeypatch.setattr(large_pages, "call", busy)
    assert large_pages.gather() > 0
    assert len(asked) > 1
