"""Code that a process ran is mapped in its children from their first moment on.

Takes: what a process has mapped, and a watcher of its memory.  Gives: ranges of code that children inherit from now
on.  Never: changes a byte that anybody reads.

A fork copies nothing of a file that was mapped and only read: the child finds out page by page, and every time the
kernel maps fifteen neighbours that it does not need. A range in which one page was written to is copied as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from ringfence.inside.mapped import RUN, Mapping
from ringfence.kernel import untouched
from ringfence.kernel.syscalls import call
from ringfence.kernel.unattended import READ, WRITE

Range = tuple[int, int]  # start and length

LET_GO = 4  # MADV_DONTNEED: what is mapped from a file comes back from there


def let_inherit(ranges: Sequence[Range], *, watcher: int) -> bool:
    """Have children inherit what this process, or a child of its own, touches of its code from now on."""
    try:
        untouched.register(watcher, ranges)
        memory = os.open("/proc/self/mem", os.O_RDWR | os.O_CLOEXEC)
    except OSError:  # an older kernel, or one that keeps its processes from this file
        return False
    try:
        let_go(ranges)
        for start, _ in ranges:
            _write_what_is_there(memory, start)
    except OSError:
        return False
    finally:
        os.close(memory)
    return True


def let_go(ranges: Iterable[Range]) -> None:
    """Have children inherit, of what was touched until now, only what is touched again."""
    for start, length in ranges:
        call("madvise", start, length, LET_GO)


def _write_what_is_there(memory: int, address: int) -> None:
    os.pwrite(memory, os.pread(memory, 1, address), address)


def code_in(mapped: Sequence[Mapping]) -> Iterator[Range]:
    """What is large of the files that hold code, and was not and cannot be written to."""
    found = [each for each in mapped if each.is_of_a_file and each.is_private and not each.written]
    with_code = {each.name for each in found if each.rights & RUN}
    for each in found:
        if each.name in with_code and each.is_large and each.rights & READ and not each.rights & WRITE:
            yield each.start, each.length
