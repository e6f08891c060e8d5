"""What a process does not touch is not in its page tables, for as long as somebody holds the descriptor."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator

import pytest

from ringfence.kernel.untouched import keep_out
from tests.integration.kernel.mappings import mappings

pytestmark = pytest.mark.req("SBX-2")
PAGES = 256
LENGTH = PAGES * mmap.PAGESIZE


@pytest.fixture
def start() -> Iterator[int]:
    """A private mapping of a file that has all its pages, none of them looked at."""
    descriptor = os.memfd_create("pages")
    os.write(descriptor, b"x" * LENGTH)
    mapped = mmap.mmap(descriptor, LENGTH, flags=mmap.MAP_PRIVATE)
    os.close(descriptor)
    view = ctypes.c_char.from_buffer(mapped)
    yield ctypes.addressof(view)
    del view
    mapped.close()


def resident(start: int) -> int:
    (found,) = [each for each in mappings() if each.start == start]
    return found.resident


def look(start: int) -> None:
    assert ctypes.string_at(start + LENGTH // 2, 1) == b"x"


def test_a_look_maps_one_page(start: int) -> None:
    held = keep_out([(start, LENGTH)])
    look(start)
    assert resident(start) == mmap.PAGESIZE
    os.close(held)


def test_without_it_a_look_maps_the_neighbours_too(start: int) -> None:
    look(start)
    assert resident(start) > mmap.PAGESIZE


def test_a_copy_of_the_descriptor_is_enough(start: int) -> None:
    """Whoever runs a tool's code gives it away; what it was for goes on."""
    held = keep_out([(start, LENGTH)])
    other = os.dup(held)
    os.close(held)
    look(start)
    assert resident(start) == mmap.PAGESIZE
    os.close(other)


def test_a_range_that_is_no_memory_is_refused_and_nothing_is_held() -> None:
    before = os.listdir("/proc/self/fd")
    with pytest.raises(OSError, match="ioctl"):
        keep_out([(0, LENGTH)])
    assert os.listdir("/proc/self/fd") == before
