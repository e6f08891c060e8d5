"""A tool's own `reconcile`, called like the tool, and its word as the host reads it.

Takes: an implementation.  Gives: one that asks instead of acting, and bytes for its answer.
Never: makes an answer of anything but the three that there are.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel

from ringfence.contract.reconcile import CannotTell, Done, NotDone
from ringfence.contract.tool import Implementation
from ringfence.inside import wire


class Asked(BaseModel):
    """What `reconcile` is asked about."""

    key: str


def asking(implementation: Implementation | None, *, tool: str) -> Implementation:
    """The same tool, whose function is its `reconcile`."""
    if implementation is None or implementation.reconcile is None:
        raise wire.Malformed(f"tool `{tool}` has no `reconcile`")
    asked = implementation.reconcile
    signature = replace(
        implementation.signature, context_parameter=asked.context_parameter, model_parameter=None, input_model=Asked
    )
    return replace(implementation, function=asked.function, signature=signature)


def answer_of(returned: object, *, implementation: Implementation) -> bytes:
    """The word that it gave; the output is written as the tool's own would be."""
    if isinstance(returned, Done):
        output = implementation.signature.dump(returned.output)  # pyright: ignore[reportUnknownMemberType]
        return b'{"answer":"done","output":' + output + b"}"
    if isinstance(returned, NotDone | CannotTell):
        return b'{"answer":"not_done"}' if isinstance(returned, NotDone) else b'{"answer":"cannot_tell"}'
    raise wire.Malformed(f"`reconcile` gives `Done`, `NotDone` or `CannotTell`, not `{type(returned).__name__}`")
