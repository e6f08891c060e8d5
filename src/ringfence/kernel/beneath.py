"""A path is opened so that the kernel itself keeps it beneath a folder, whatever its links say and whoever renames.

Takes: an open folder, a path, and which ways out are closed.  Gives: a descriptor, or OSError.  Never: looks at the
text of a path to decide where it leads.
"""

from __future__ import annotations

import errno
import os
import struct
from enum import IntFlag

from ringfence.kernel.syscalls import call


class Resolve(IntFlag):
    """Which steps of a path the kernel refuses to take."""

    NO_MAGIC_LINKS = 0x02
    NO_LINKS = 0x04
    BENEATH = 0x08


HERE = -100  # AT_FDCWD
STAY_BENEATH = Resolve.BENEATH | Resolve.NO_MAGIC_LINKS
PLAIN_NAMES = Resolve.NO_LINKS | Resolve.NO_MAGIC_LINKS
_TRIES = 128


def open_at(folder: int, path: str, *, flags: int, resolve: Resolve, mode: int = 0) -> int:
    """Open `path` from an open folder; the descriptor is closed on exec."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        # C would read a shorter path than the one that was meant.
        raise OSError(errno.EINVAL, "openat2: a path has a NUL in it")
    how = struct.pack("QQQ", flags | os.O_CLOEXEC, mode, resolve)
    for left in reversed(range(_TRIES)):
        try:
            return call("openat2", folder, encoded, how, len(how))
        except OSError as failure:
            # The kernel could not rule out that a rename elsewhere moved `..` out of the folder, and asks to try again.
            if failure.errno != errno.EAGAIN or not left:
                raise
    raise OSError(errno.EAGAIN, "openat2: renames never paused")
