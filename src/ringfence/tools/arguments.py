"""Arguments that several tools of the toolbox take, and how each says that one of them is wrong.

Takes: nothing.  Gives: annotated types, and errors that a model can act on.  Never: checks what the kernel holds.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ringfence import Sink
from ringfence.errors import CallFailed

WorkspacePath = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1_024,
        pattern=r"^[^\x00]+$",
        description="A path relative to the agent's workspace, with `/` between its parts.",
        examples=["notes/today.md"],
    ),
    Sink("path"),
]


def wrong(argument: str, why: str, *, remedy: str) -> CallFailed:
    """An argument that fits its schema and still cannot be used; the model can correct it."""
    return CallFailed(f"`{argument}`: {why}", code="input_invalid", remedy=remedy)
