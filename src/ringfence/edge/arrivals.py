"""The connections of a call that has a network of its own: whatever is dialled there arrives at a listener here.

Takes: listeners that were handed out of the jail.  Gives: each connection, with the address that was dialled.
Never: waits on a listener, for whoever made it could make it block.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from ringfence.edge.ofcall import Dialled
from ringfence.execution.edge import Hearing

TakeUp: TypeAlias = Callable[[socket.socket, Dialled], None]


# Seconds and microseconds, as the kernel reads them.
_A_MOMENT, _FOR_EVER = struct.pack("@ll", 0, 1_000), struct.pack("@ll", 0, 0)


class Arrivals:
    """Accepts for one call."""

    def __init__(self, listeners: Sequence[int], *, hearing: Hearing, take_up: TakeUp) -> None:
        self._hearing = hearing
        self._listeners = listeners
        self._take_up = take_up
        for listener in listeners:
            _wait_no_longer(listener)
            hearing.add_reader(listener, partial(self._accept, listener))

    def stop(self) -> None:
        """Accept no more."""
        for listener in self._listeners:
            self._hearing.remove_reader(listener)

    def close(self) -> None:
        self.stop()
        # Numbers that were closed once may be somebody else's by now.
        listeners, self._listeners = self._listeners, ()
        for listener in listeners:
            os.close(listener)

    def _accept(self, descriptor: int) -> None:
        """One each time it is heard that one waits."""
        listener = socket.socket(fileno=descriptor)
        try:
            # Each time anew: whoever made it could keep a copy and change that, and this loop would wait, if only
            # for the moment that no tool can change.
            listener.setblocking(False)
            made, _ = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError:
            # Whoever made it shut it down, or worse: it would be heard again and again, and nothing would come of it.
            self._hearing.remove_reader(descriptor)
            return
        finally:
            listener.detach()
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _FOR_EVER)
        address, port = made.getsockname()[:2]
        self._take_up(made, (address.removeprefix("::ffff:"), port))


def _wait_no_longer(listener: int) -> None:
    """Have the kernel wait for a moment where it is made to wait."""
    # Of any kind: not stated, Python would ask the kernel, for every call.
    borrowed = socket.SocketType(socket.AF_INET, socket.SOCK_STREAM, 0, listener)
    try:
        borrowed.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _A_MOMENT)
    finally:
        borrowed.detach()
