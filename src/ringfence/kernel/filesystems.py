"""Which file systems say by a file's times that it was written.

Takes: an open file or folder.  Gives: whether its kernel times can be relied on.  Never: opens anything.
"""

from __future__ import annotations

import ctypes
import struct

from ringfence.kernel.syscalls import call

_STATFS_BYTES = 120
_TYPE = struct.Struct("=q")

# A write through a mapping leaves no time behind on these: their pages have no disk to be marked dirty for.
_SILENT = {
    0x01021994: "tmpfs",
    0x858458F6: "ramfs",
}


def tells_every_write(descriptor: int) -> bool:
    """Whether every write to a file here changes the file's own times."""
    answer = ctypes.create_string_buffer(_STATFS_BYTES)
    call("fstatfs", descriptor, answer)
    return _TYPE.unpack_from(answer.raw)[0] not in _SILENT
