"""A spare for tests of the host's side alone: a process that lends its pid, and ends that the test speaks through.

Takes: a pid, and the host's ends of a channel and a pipe.  Gives: a spare.  Never: is seen confined, or has a way out.
"""

from __future__ import annotations

import os
import socket
from typing import cast

from ringfence.sandbox.outlet import Outward
from ringfence.sandbox.posture import Sighting
from ringfence.sandbox.processes import Held
from ringfence.sandbox.spare import Ends, Spare


def spare_of(pid: int, *, channel: socket.socket, printed: int) -> Spare:
    channel.setblocking(False)
    os.set_blocking(printed, False)
    return Spare(
        ends=Ends(channel=channel, printed=printed),
        process=Held(pid),
        seen=cast(Sighting, None),
        inner_pid=3,
        group=None,
        outward=Outward.of(()),
    )
