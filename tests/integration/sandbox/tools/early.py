"""A tool module that tries its luck while it is imported, and tells later."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

from ringfence import tool


def _told(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError as failure:
        return errno.errorcode[failure.errno or 0]
    return "done"


FOUND = {
    "read": _told(lambda: Path("/etc/passwd").read_text()),
    "list": _told(lambda: os.listdir("/")),
    "write": _told(lambda: Path("/tmp/ringfence-early").write_text("x")),
    "socket": _told(lambda: socket.socket(socket.AF_INET)),
    "run": _told(lambda: os.execv("/bin/true", ["true"])),
    "signal": _told(lambda: os.kill(os.getppid(), 0)),
    "mode": _told(lambda: os.chmod(__file__, 0o777)),
}


@tool(safety="read")
def early() -> dict[str, str]:
    """What the import was told."""
    return FOUND
