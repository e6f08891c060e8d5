"""What a library draws once and keeps is not there when a child is born, so that each child draws its own.

Takes: nothing.  Gives: children that share no such draw with their parent or with each other.  Never: imports what the
tool did not.

Python renews `random` after a fork, and OpenSSL looks at its process id. libuuid does neither: a version 1 uuid is a
time in microseconds, a place and a sequence, and calls forked from one zygote that run in the same microsecond would
agree in all three. Without it, Python draws place and sequence from `random`.
"""

from __future__ import annotations

import sys
from typing import Any


def forget_draws() -> None:
    """Once, in the process that bears the children, after the last code that may have drawn something there."""
    uuid: Any = sys.modules.get("uuid")
    if uuid is not None:
        uuid._generate_time_safe = None
        uuid._GETTERS = []  # a jail has no network card whose address could be a place
        uuid._node = None
        uuid._last_timestamp = None
    random: Any = sys.modules.get("random")
    if random is not None:
        random._inst.gauss_next = None  # `gauss` draws two at once and keeps the second
