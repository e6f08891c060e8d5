"""Small files in which the kernel says something, read whole.

Takes: a path under /proc or /sys.  Gives: the bytes.  Never: builds a file object; every call reads several of these.
"""

from __future__ import annotations

import os

_MOST_BYTES = 16_384


def read(path: str) -> bytes:
    """All that the file says at this moment; OSError where it is gone."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)
