"""What the kernel says of each page of this process (pagemap in proc(5)).

Takes: a stretch of memory.  Gives: a byte for each of its pages.  Never: says where in the machine a page lies.
"""

from __future__ import annotations

import os
from mmap import PAGESIZE

OWN = "/proc/self/pagemap"
_ENTRY_BYTES = 8
# Of the highest byte of an entry, which is all that anybody may see of it.
PRESENT = 0x80
SWAPPED = 0x40
OF_A_FILE = 0x20


def flags_of(pages: int, start: int, *, length: int) -> bytes:
    """The highest byte of what there is about each page of a stretch, from an open `OWN`."""
    told = os.pread(pages, length // PAGESIZE * _ENTRY_BYTES, start // PAGESIZE * _ENTRY_BYTES)
    return told[_ENTRY_BYTES - 1 :: _ENTRY_BYTES]
