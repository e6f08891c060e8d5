"""The descriptors that a spare is born with: how it makes them its own, and how the process that bore it lets go.

Takes: what the kernel says of descriptors that came with a request.  Gives: what to do with them in the two processes.
Never: does it.

A request comes with the channel of the call, the pipe for what the tool prints, and the doors of its control groups.
Their numbers are the lowest that are free, and so the same each time: it is worked out once.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ringfence.inside.wire import CHANNEL
from ringfence.kernel import cgroups
from ringfence.kernel.script import Script, written_down
from ringfence.kernel.syscalls import call

MOST_DESCRIPTORS = 8
DESCRIPTOR = struct.Struct("i")
# More than that are not the same each time.
_MOST_KEPT = 16

Ancillary = Sequence[tuple[int, int, bytes]]


@dataclass(frozen=True, kw_only=True)
class Berth:
    """One set of descriptors."""

    settle: Script
    let_go: Callable[[], None]


class Berths:
    """Those that were there so far."""

    def __init__(self) -> None:
        self._known: dict[bytes, Berth] = {}

    def of(self, ancillary: Ancillary) -> Berth:
        """The berth of the descriptors that came with one request."""
        ((_, _, sent),) = ancillary
        known = self._known.get(sent)
        return self._written(sent) if known is None else known

    def _written(self, sent: bytes) -> Berth:
        channel, printed, *doors = (number for (number,) in DESCRIPTOR.iter_unpack(sent))
        with written_down(open_below=CHANNEL) as settle:
            for door in doors:
                cgroups.enter(door)
            call("dup2", channel, CHANNEL)
            call("dup2", printed, 1)
            call("dup2", printed, 2)
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        self._known[sent] = Berth(settle=settle, let_go=_closing((channel, printed, *doors)))
        return self._known[sent]


def _closing(descriptors: Sequence[int]) -> Callable[[], None]:
    first, last = min(descriptors), max(descriptors)
    if last - first + 1 == len(descriptors):
        return partial(os.closerange, first, last + 1)
    return partial(_close_each, descriptors)


def _close_each(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
