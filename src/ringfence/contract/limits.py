"""What one call may use, and how often a failed one may be tried again.

Takes: the author's numbers.  Gives: frozen values in which `None` means «the operator's default».
Never: measures anything.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from ringfence.errors import DeclarationRefused


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Resource limits of one call; each one that is reached has its own error code."""

    wall_seconds: float | None = None
    cpu_seconds: float | None = None
    memory_mb: int | None = None
    pids: int | None = None
    disk_mb: int | None = None
    output_kb: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not 0 < value < float("inf"):
                raise DeclarationRefused(f"limit `{field.name}` must be a positive number, not `{value}`")

    def capped_by(self, ceiling: Self) -> Self:
        """These limits, none above the ceiling's; an absent one takes the ceiling's."""
        lower: dict[str, Any] = {f.name: _lower(getattr(self, f.name), getattr(ceiling, f.name)) for f in fields(self)}
        return type(self)(**lower)

    def document(self) -> dict[str, float | int]:
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}


def _lower(mine: float | None, ceiling: float | None) -> float | None:
    given = [value for value in (mine, ceiling) if value is not None]
    return min(given, default=None)


@dataclass(frozen=True)
class Retry:
    """How often, and how long apart in seconds, a call that changed nothing is tried again."""

    attempts: int
    backoff: float = 0.5

    def __post_init__(self) -> None:
        if self.attempts < 1 or not 0 <= self.backoff < float("inf"):
            raise DeclarationRefused(f"retry needs at least one attempt and a backoff of 0 or more, not {self}")

    def document(self) -> dict[str, float | int]:
        return {"attempts": self.attempts, "backoff": self.backoff}
