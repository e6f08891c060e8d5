"""What a library draws once and keeps is drawn anew in every child.

Takes: nothing.  Gives: children that share no such draw with their parent or with each other.  Never: imports what the
tool did not.

Python renews `random` after a fork, and OpenSSL looks at its process id. libuuid does neither: a version 1 uuid is a
time in microseconds, a place and a sequence, and calls forked from one zygote that run in the same microsecond would
agree in all three.
"""

from __future__ import annotations

import os
import sys
from typing import Any

# RFC 9562, section 6.10: a place that is no network card's address has this bit set.
_NO_CARD = 1 << 40
_PLACE_BYTES = 6


def renew_in_children() -> None:
    """From now on, whatever forks."""
    os.register_at_fork(after_in_child=_renew_uuid)


def _renew_uuid() -> None:
    uuid: Any = sys.modules.get("uuid")
    if uuid is None:
        return
    # Without libuuid's generator, Python draws the sequence from `random` for every uuid.
    uuid._generate_time_safe = None
    uuid._node = int.from_bytes(os.urandom(_PLACE_BYTES)) | _NO_CARD
    uuid._last_timestamp = None
