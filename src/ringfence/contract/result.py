"""What a tool may return when the model should read something else than the output.

Takes: the output and a text for the model.  Gives: both, kept together.  Never: skips validation or cleaning of either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Output = TypeVar("Output")


@dataclass(frozen=True)
class Result(Generic[Output]):
    """An output with its own wording for the model."""

    output: Output
    for_model: str | None = None
