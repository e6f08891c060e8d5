"""The way out of a call without a network of its own: the listener of its filter, at which the kernel asks.

Takes: the descriptor that a spare handed out.  Gives: a way that was seen to be what it should be.
Never: takes one whose questions this host could not answer, or answers for another process.

What such a jail lacks is put elsewhere: no file says where names are asked, so a variable has the C library ask over
TCP, at the place where it looks when no file says so.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ringfence.errors import CallRefused
from ringfence.execution.edge import Asking, Hearing
from ringfence.inside.layout import Layout
from ringfence.kernel import notify
from ringfence.sandbox.outlet import Networks, Outward, close_all
from ringfence.sandbox.posture import Sighting

ENVIRONMENT = {"RES_OPTIONS": "use-vc timeout:2 attempts:2"}
_REMEDY = "give Ringfence the capability CAP_SYS_PTRACE (`--cap-add=SYS_PTRACE`), or run it as an ordinary user"


def environment_of(layout: Layout) -> dict[str, str]:
    """Variables for a confined jail with a way out."""
    return ENVIRONMENT if layout.ports else {}


class Questions:
    """The listeners of one jail's spares."""

    most = 1

    def admit(self, descriptors: Sequence[int], *, seen: Sighting) -> Outward:
        """The way of one spare, checked; `CallRefused` where it is not its own."""
        try:
            self._check(descriptors, process=seen.pid)
        except BaseException:
            close_all(descriptors)
            raise
        return Outward(Asking(listener=descriptors[0], belongs=seen.pid.__eq__))

    def _check(self, descriptors: Sequence[int], *, process: int) -> None:
        if len(descriptors) != self.most or not notify.is_listener(descriptors[0]):
            message = "the way out of a confined spare is not the listener of a filter"
            raise CallRefused(message, code="posture_insufficient")
        try:
            os.close(notify.take_descriptor(process, 0))
        except PermissionError:
            message = "the kernel does not let this host look at what its jails dial"
            raise CallRefused(message, code="not_enforceable", remedy=_REMEDY) from None


def networks_of(layout: Layout, *, hearing: Hearing | None = None) -> Networks | Questions:
    """How this jail's spares leave, if they do."""
    confined = layout.posture == "confined" and layout.ports
    return Questions() if confined else Networks(layout.ports, hearing=hearing)
