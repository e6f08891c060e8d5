"""Hostile tools that look for parts of the kernel that were left open (lines 108 to 115)."""

from __future__ import annotations

from ringfence import tool

from .attempt import Attempt, Canaries, attempt, system_call  # noqa: TID252  a probe is imported as `probes.kernel`

_PERSONALITY = 135
_READ_IMPLIES_EXEC = 0x0400000


@tool(safety="read")
def line_111_personality(canaries: Canaries) -> Attempt:
    """Make every readable page executable."""
    return attempt(lambda: system_call(_PERSONALITY, _READ_IMPLIES_EXEC))
