"""A tool whose import lets nothing be rehearsed: neither a spare's life where no call is served, nor a call."""

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


def _rehearse_nothing(_rehearsal: object) -> None:
    raise OSError("this is no call")


spare._live = _live_in_a_spare_alone  # type: ignore[assignment] # pyright: ignore[reportPrivateUsage]
spare.rehearse_call = _rehearse_nothing  # type: ignore[assignment, attr-defined]


@tool(safety="read")
def unrehearsed() -> int:
    """Say which import this call is of."""
    return _IMPORTED_AT
