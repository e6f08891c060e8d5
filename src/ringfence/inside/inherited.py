"""Code that a process ran is mapped in its children from their first moment on.

Takes: the libraries of a process, and a watcher of its memory.  Gives: the ranges of them that children inherit from
now on.  Never: changes a byte that anybody reads.

A fork copies nothing of a file that was mapped and only read: the child finds out page by page, and every time the
kernel maps fifteen neighbours that it does not need. A range in which one page was written to is copied as it is.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator

from ringfence.kernel import untouched
from ringfence.kernel.syscalls import call
from ringfence.kernel.unattended import PAGE

Range = tuple[int, int]  # start and length

# In less than that there are not many pages to find out about.
_WORTH_INHERITING = 64 * PAGE
_OF_A_FILE = re.compile(r"(?P<start>[0-9a-f]+)-(?P<end>[0-9a-f]+) (?P<rights>r-[x-]p) \S+ \S+ \S+ +(?P<file>/.*)")
_LET_GO = 4  # MADV_DONTNEED: what is mapped from a file comes back from there


def let_inherit(watcher: int) -> tuple[Range, ...]:
    """Have children inherit what this process, or a child of its own, touches of its code from now on."""
    try:
        ranges = tuple(_ranges())
        untouched.register(watcher, ranges)
        memory = os.open("/proc/self/mem", os.O_RDWR | os.O_CLOEXEC)
    except OSError:  # an older kernel, or one that keeps its processes from this file
        return ()
    try:
        for start, length in ranges:
            call("madvise", start, length, _LET_GO)
            _write_what_is_there(memory, start)
    except OSError:
        return ()
    finally:
        os.close(memory)
    return ranges


def _write_what_is_there(memory: int, address: int) -> None:
    os.pwrite(memory, os.pread(memory, 1, address), address)


def _ranges() -> Iterator[Range]:
    """What is large of the files that hold code, and cannot be written to."""
    found: defaultdict[str, list[re.Match[str]]] = defaultdict(list)
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            if mapping := _OF_A_FILE.match(line):
                found[mapping["file"]].append(mapping)
    for mappings in found.values():
        if not any(mapping["rights"] == "r-xp" for mapping in mappings):
            continue
        for mapping in mappings:
            start, end = int(mapping["start"], 16), int(mapping["end"], 16)
            if end - start >= _WORTH_INHERITING:
                yield start, end - start
