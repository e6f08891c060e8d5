"""A process's own memory, kept by the kernel in few large pages instead of many small ones.

Takes: nothing.  Gives: how many large pages there are now.
Never: changes what memory holds, gathers where most of a stretch is empty, or where an administrator turned it off.

After a pause a processor knows no page of a process any more and looks each one up, in a virtual machine twice over. A
runtime's objects are spread over thousands of small pages and fit into a dozen large ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ringfence.errors import RingfenceError
from ringfence.kernel import pagemap, proc
from ringfence.kernel.syscalls import call

_SETTINGS = "/sys/kernel/mm/transparent_hugepage"
_GATHER = 25  # MADV_COLLAPSE, since Linux 6.1
# A runtime has a quarter of it. What more a host holds is its own, and would be copied for nothing.
_MOST_BYTES = 128 << 20
# Private, written to, and of no file: what a program allocated.
_ALLOCATED = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ \S+ *(?:\[heap\]|\[anon:.*\])?$", re.MULTILINE)
Stretch = tuple[int, int]  # where it begins, and how long it is


def gather() -> int:
    """Gather what is allocated by now, into how many large pages; what is allocated later stays as it comes."""
    try:
        size = _size()
        if size == 0:
            return 0
        with open(pagemap.OWN, "rb", buffering=0) as pages:
            return sum(_gathered(*stretch) for stretch in _bounded(_stretches(pages.fileno(), size=size))) // size
    except (OSError, RingfenceError):  # nothing of it is needed: memory stays as it was
        return 0


def _size() -> int:
    """How many bytes a large page has; none where nobody is to have one."""
    if b"[never]" in proc.read(f"{_SETTINGS}/enabled"):
        return 0
    return int(proc.read(f"{_SETTINGS}/hpage_pmd_size"))


def _bounded(stretches: Iterator[Stretch]) -> Iterator[Stretch]:
    """As many as are gathered at most."""
    left = _MOST_BYTES
    for start, length in stretches:
        if left == 0:
            return
        yield start, min(left, length)
        left -= min(left, length)


def _stretches(pages: int, *, size: int) -> Iterator[Stretch]:
    """Where large pages would fit that are there already for the most part; neighbours at once, since the kernel gets
    ready for every call anew. The kernel maps downwards, so what a program loaded first comes first."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as mapped:
        found = [(int(start, 16), int(end, 16)) for start, end in _ALLOCATED.findall(mapped.read())]
    for start, end in reversed(found):
        begun = -(-start // size) * size
        for place in range(begun, end + 1, size):
            if place + size > end or not _is_there(pages, place, size=size):
                if place > begun:
                    yield begun, place - begun
                begun = place + size


def _is_there(pages: int, start: int, *, size: int) -> bool:
    """Whether most pages of a stretch are in memory."""
    flags = pagemap.flags_of(pages, start, length=size)
    return 2 * sum(each >= pagemap.PRESENT for each in flags) > len(flags)


def _gathered(start: int, length: int) -> int:
    """How many bytes; none where a page is busy, no large one is to be had, or whoever allocated it wants none."""
    try:
        call("madvise", start, length, _GATHER)
    except OSError:
        return 0
    return length
