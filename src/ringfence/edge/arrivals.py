"""The connections of a call that has a network of its own: whatever is dialled there arrives at a listener here.

Takes: listeners that were handed out of the jail.  Gives: each connection, with the address that was dialled.
Never: waits on a listener, for whoever made it could make it block.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from ringfence.edge.ofcall import Dialled
from ringfence.execution.edge import Hearing

TakeUp: TypeAlias = Callable[[socket.socket, Dialled], None]


class Arrivals:
    """Accepts for one call."""

    def __init__(self, listeners: Sequence[int], *, hearing: Hearing, take_up: TakeUp) -> None:
        self._hearing = hearing
        self._listeners = listeners
        self._take_up = take_up
        for listener in listeners:
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
            # Each time anew: whoever made it could keep a copy and change that, and this loop would wait.
            listener.setblocking(False)
            made, _ = listener.accept()
        except OSError:
            return
        finally:
            listener.detach()
        made.setblocking(False)
        address, port = made.getsockname()[:2]
        self._take_up(made, (address.removeprefix("::ffff:"), port))
