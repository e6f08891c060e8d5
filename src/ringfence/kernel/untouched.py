"""Pages that a process does not touch stay out of its page tables, so that its children do not inherit them.

Takes: ranges of memory that a file backs.  Gives: a descriptor; as long as it is open anywhere, this holds.
Never: is told of a fault: no page is ever protected, so the kernel has nothing to say.

On a first look at a page of a file the kernel maps its fifteen neighbours too; every fork copies them, and every exit
gives them back. Where somebody could ask to be told of writes (userfaultfd(2)) it maps the one page alone.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from ringfence.kernel.syscalls import call

_USER_MODE_ONLY = 1  # with it, nobody needs a right to ask
_API = 0xAA
_API_CALL = 0xC018_AA3F
_OF_WRITES = 2
# With it the kernel answers what was asked for by itself, and for that reason takes memory of any file.
_ANSWERED_BY_THE_KERNEL = 1 << 15
REGISTER = 0xC020_AA00


def watcher() -> int:
    """A descriptor by which ranges of this process's memory, and of no child's, can be registered.

    Before Linux 6.7 only ranges of memory that no file system holds can.
    """
    descriptor = call("userfaultfd", os.O_CLOEXEC | _USER_MODE_ONLY)
    try:
        try:
            call("ioctl", descriptor, _API_CALL, _words(_API, _ANSWERED_BY_THE_KERNEL, 0))
        except OSError:
            call("ioctl", descriptor, _API_CALL, _words(_API, 0, 0))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def registration(start: int, length: int) -> ctypes.Array[ctypes.c_char]:
    """What the call `REGISTER` points to for a range."""
    return _words(start, length, _OF_WRITES, 0)


def keep_out(ranges: Iterable[tuple[int, int]]) -> int:
    """Have only what is touched mapped in these ranges of (start, length), in this process and not in its children."""
    descriptor = watcher()
    try:
        register(descriptor, ranges)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def register(descriptor: int, ranges: Iterable[tuple[int, int]]) -> None:
    """The same, by a watcher that is there already."""
    for start, length in ranges:
        call("ioctl", descriptor, REGISTER, registration(start, length))


def _words(*numbers: int) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(struct.pack(f"{len(numbers)}Q", *numbers), 8 * len(numbers))
