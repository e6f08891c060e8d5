"""Tools that look at the memory they stand on, and try to change it for others."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import partial

import pydantic

from ringfence import tool

# The one that lists them is among them.
_HELD_AT_IMPORT = len(os.listdir("/proc/self/fd")) - 1
_REMOVE = 9
_libc = ctypes.CDLL(None, use_errno=True)
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def _told(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError as failure:
        return errno.errorcode[failure.errno or 0]
    return "done"


def _shared() -> list[tuple[str, int, int]]:
    with open("/proc/self/maps") as lines:
        ranges = [line.split()[0] for line in lines if "memfd:bedrock" in line]
    ends = [each.split("-") for each in ranges]
    return [(name, int(start, 16), int(end, 16)) for name, (start, end) in zip(ranges, ends, strict=True)]


def _remove(start: int, end: int) -> None:
    if _libc.madvise(start, end - start, _REMOVE) != 0:
        raise OSError(ctypes.get_errno(), "madvise")


@tool(safety="read")
def held_at_import() -> int:
    """How many descriptors there were when this was imported."""
    return _HELD_AT_IMPORT


@tool(safety="read")
def stands_on() -> int:
    """How many mappings are of the file that was laid down."""
    return len(_shared())


@tool(safety="read")
def spoil() -> dict[str, list[str]]:
    """Take pages out of the file, open it, and write to a word that every process has."""
    ranges = _shared()
    removed = {_told(partial(_remove, start, end)) for _, start, end in ranges}
    opened = {_told(partial(os.open, f"/proc/self/map_files/{name}", os.O_RDWR)) for name, _, _ in ranges}
    word = pydantic.VERSION
    ctypes.memset(id(word) + sys.getsizeof("") - 1, ord("!"), 1)
    return {"take pages out": sorted(removed), "open it": sorted(opened), "own copy": [word]}


@tool(safety="read")
def word() -> str:
    """A word that every process has."""
    return pydantic.VERSION


@tool(safety="read")
def own_kibibytes() -> int:
    """How much of this process's memory is no longer of any file."""
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))
