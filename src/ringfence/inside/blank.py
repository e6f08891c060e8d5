"""A jail that nobody has ordered yet: its first two processes stand in their namespaces, and wait for the order.

Takes: the namespaces of a jail, then one order.  Gives: the jail of that order.  Never: is given a second order, or
outlives the fork server.

Most of what a jail costs at its birth is the same for all: the kernel makes six namespaces, two processes copy what
they will write to. The fork server has that done while nobody waits.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from ringfence.inside import ordering, warden
from ringfence.inside.bedrock import Bedrock
from ringfence.inside.ordering import say_ids_given
from ringfence.kernel import namespaces

_SECONDS_TO_ANSWER = 0.005


@dataclass(frozen=True, kw_only=True)
class Life:
    """A pipe that only the fork server holds the other end of, so that whoever reads from it hears of its end."""

    heard: int
    held: int

    @classmethod
    def begin(cls) -> Life:
        heard, held = os.pipe()
        return cls(heard=heard, held=held)


@dataclass(frozen=True, kw_only=True)
class Blank:
    """One that waits, as the fork server holds it."""

    pid: int
    process: int
    orders: socket.socket

    def give(self, packet: bytes, *, descriptors: Sequence[int]) -> bool:
        """Hand it its order; False where it is gone."""
        try:
            socket.send_fds(self.orders, [packet], descriptors)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def let_go_on(self, *, granted: Sequence[int] | None) -> None:
        """It has its ids, and mounts that only root could make."""
        say_ids_given(self.orders, granted=granted)

    def leave(self) -> None:
        """Let go of it: what has its order goes on, what has none ends."""
        self.orders.close()
        os.close(self.process)

    def end(self) -> None:
        """End it, and wait until nothing of it is left."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.process, signal.SIGKILL)
        select.select([self.process], [], [])
        self.leave()


class Nursery:
    """Keeps at most one blank."""

    def __init__(self, flags: int, *, life: Life, below: Bedrock) -> None:
        self.life = life
        self.below = below
        self._flags = flags
        self._kept: Blank | None = None
        self._due: float | None = None

    def lay_up_later(self) -> None:
        """Have one wait once the jail that was ordered last has answered: to make one takes a core from its call.

        Who ordered may be busy with something else by then, so it is not left to them to say when.
        """
        self._due = time.monotonic() + _SECONDS_TO_ANSWER

    def seconds_left(self) -> float | None:
        """How long until one is to be made, if one is."""
        return None if self._due is None else max(0.0, self._due - time.monotonic())

    def lay_up_if_due(self) -> None:
        if self._due is not None and time.monotonic() >= self._due:
            self.lay_up()

    def lay_up(self) -> None:
        """Have one wait; where none can be made, the next order says why."""
        self._due = None
        if self._kept is None:
            with suppress(OSError):
                self._kept = self._made()

    def take(self) -> Blank:
        """The one that waits, or a new one where there is none."""
        taken, self._kept = self._kept, None
        return taken or self._made()

    def clear(self) -> None:
        """Have none wait."""
        if self._kept is not None:
            self._kept.end()
            self._kept = None

    def _made(self) -> Blank:
        ours, theirs = ordering.pair()
        with theirs:
            try:
                pid = namespaces.clone(self._flags)
                if pid == 0:
                    warden.wait_for_order(theirs, life=self.life.heard, below=self.below)
                return Blank(pid=pid, process=os.pidfd_open(pid), orders=ours)
            except OSError:
                ours.close()
                raise
