"""A module that wants out while it is imported, before any call, and tools that tell what came of it."""

from __future__ import annotations

import errno
import socket

from ringfence import Network, tool


def _came_of(place: tuple[str, int]) -> str:
    try:
        made = socket.socket()
    except PermissionError:
        return "no socket"
    with made:
        made.settimeout(2)
        return errno.errorcode.get(made.connect_ex(place), "connected")


EARLY = _came_of(("127.0.0.1", 9))


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("api.example.com")])
def what_came_of_it() -> list[str]:
    """While importing, and now."""
    return [EARLY, _came_of(("127.0.0.1", 9))]
