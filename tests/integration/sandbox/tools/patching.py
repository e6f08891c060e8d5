"""A tool whose import puts another class in the place of every socket, as libraries for green threads do."""

from __future__ import annotations

import socket
import time

from ringfence import tool


class _Green(socket.socket):
    def __init__(self, *_given: object, **_named: object) -> None:
        raise RuntimeError("a green socket was made where nobody waits for one")


socket.socket = _Green  # type: ignore[misc]


_IMPORTED_AT = time.monotonic_ns()


@tool(safety="read")
def patched() -> tuple[str, int]:
    """Say what a socket is by now, and which import this call is of."""
    return socket.socket.__name__, _IMPORTED_AT
