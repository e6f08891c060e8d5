"""A tool whose import lets nothing of a spare's life be lived but where a call is served."""

from __future__ import annotations

import os
import time

from ringfence import tool
from ringfence.inside import spare

_IMPORTED_AT = time.monotonic_ns()
_live = spare._live  # pyright: ignore[reportPrivateUsage]


def _live_in_a_spare_alone(*given: object) -> int:
    if os.getpid() != 1:  # what serves a call is the first process of its namespace
        raise OSError("this is no spare")
    return _live(*given)  # type: ignore[arg-type]


spare._live = _live_in_a_spare_alone  # type: ignore[assignment] # pyright: ignore[reportPrivateUsage]


@tool(safety="read")
def unrehearsed() -> int:
    """Say which import this call is of."""
    return _IMPORTED_AT
