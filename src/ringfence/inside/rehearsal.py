"""Tools that do nothing, one of which is played in every spare before it waits.

Takes: the tools that the spare may be asked for.  Gives: the one to play.  Never: is offered to anybody; playing it
makes this process's own copies of the pages that every call writes to, while nobody waits for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from ringfence.contract.context import Context
from ringfence.contract.tool import Tool, tool
from ringfence.inside import wire

# Each word as long as a real one: Python keeps memory of one size apart from that of another.
_SESSION, _KEY = "ses_" + 24 * "0", "sha256:" + 64 * "0"
_JOB = (
    f'{{"task":"call","tool":"rehearse","agent":"rehearsal","session":"{_SESSION}","idempotency_key":"{_KEY}",'
    '"secrets":null,"storage":[]}'
).encode()
_WRITTEN = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
_READ = ("__getattr__", "__getattribute__")


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """A tool, and the frames that ask for a call of it."""

    tools: Mapping[str, Tool]
    frames: bytes


def _plain() -> Tool:
    @tool(safety="read")
    def rehearse() -> int:
        """Do nothing."""
        return 1

    return rehearse


def _with_context() -> Tool:
    @tool(safety="read")
    def rehearse(ctx: Context, number: int, text: str) -> int:
        """Do nothing, with what a context costs."""
        return number

    return rehearse


def _rehearsal(played: Tool, *, arguments: bytes) -> Rehearsal:
    frames = wire.pack(wire.Kind.JOB, _JOB) + wire.pack(wire.Kind.ARGUMENTS, arguments)
    return Rehearsal(tools={played.name: played}, frames=frames)


PLAIN = _rehearsal(_plain(), arguments=b"{}")
WITH_CONTEXT = _rehearsal(_with_context(), arguments=b'{"number":1,"text":"a"}')


def rehearse_declaring() -> None:
    """Go through what an import of tools does most."""
    for declared in (_plain(), _with_context()):
        _ = declared.fingerprint


def rehearsal_for(tools: Mapping[str, Tool]) -> Rehearsal:
    """A page that no call of these tools writes to needs no copy."""
    made = (tool.implementation for tool in tools.values())
    wanted = any(each.signature.context_parameter for each in made if each is not None)
    return WITH_CONTEXT if wanted else PLAIN


def find_places(models: Iterable[type[BaseModel]]) -> None:
    """Have Python find what every call writes to and reads of the arguments that it was given, and remember where.

    No instance is initialised or validated, and none is made that would say something when it goes.
    """
    for model in models:
        if not hasattr(model, "__del__"):
            arguments = object.__new__(model)
            for place in _WRITTEN:
                object.__setattr__(arguments, place, {} if place == "__dict__" else None)
            for place in _READ:
                hasattr(model, place)
