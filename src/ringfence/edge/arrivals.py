"""The connections of a call that has a network of its own: whatever is dialled there arrives at a listener here.

Takes: listeners that were handed out of the jail.  Gives: each connection, with the address that was dialled.
Never: waits on a listener, for whoever made it could make it block.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ringfence.edge.ofcall import Dialled

TakeUp: TypeAlias = Callable[[socket.socket, Dialled], None]


class Arrivals:
    """Accepts for one call."""

    def __init__(self, listeners: Sequence[int], *, take_up: TakeUp) -> None:
        self._loop = asyncio.get_running_loop()
        self._listeners = [socket.socket(fileno=descriptor) for descriptor in listeners]
        self._take_up = take_up
        for listener in self._listeners:
            listener.setblocking(False)
            self._loop.add_reader(listener, self._accept, listener)

    def stop(self) -> None:
        """Accept no more."""
        for listener in self._listeners:
            self._loop.remove_reader(listener)

    def close(self) -> None:
        self.stop()
        for listener in self._listeners:
            listener.close()

    def _accept(self, listener: socket.socket) -> None:
        """One each time the loop says that one waits."""
        try:
            made, _ = listener.accept()
        except OSError:
            return
        made.setblocking(False)
        address, port = made.getsockname()[:2]
        self._take_up(made, (address.removeprefix("::ffff:"), port))
