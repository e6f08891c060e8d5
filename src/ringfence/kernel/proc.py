"""Small files in which the kernel says something, read whole.

Takes: a path under /proc or /sys.  Gives: the bytes.  Never: builds a file object; every call reads several of these.
"""

from __future__ import annotations

import os

_MOST_BYTES = 16_384


def read(path: str) -> bytes:
    """All that the file says at this moment; OSError where it is gone."""
    descriptor = found(path)
    try:
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)


def found(path: str) -> int:
    """A descriptor of the file, for whoever will read it more than once."""
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def read_again(descriptor: int) -> bytes:
    """All that a file that was found says by now; OSError where what it tells of is gone."""
    return os.pread(descriptor, _MOST_BYTES, 0)
