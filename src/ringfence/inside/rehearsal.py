"""Tools that do nothing, one of which is played in every spare before it waits.

Takes: the tools that the spare may be asked for.  Gives: the one to play.  Never: is offered to anybody; playing it
makes this process's own copies of the pages that every call writes to, while nobody waits for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ringfence.contract.context import Context
from ringfence.contract.tool import Tool, tool

JOB = b'{"task":"call","tool":"rehearse","agent":"","session":"","idempotency_key":""}'


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """A tool and the arguments that it takes."""

    tools: Mapping[str, Tool]
    arguments: bytes


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


PLAIN = Rehearsal(tools={"rehearse": _plain()}, arguments=b"{}")
WITH_CONTEXT = Rehearsal(tools={"rehearse": _with_context()}, arguments=b'{"number":1,"text":"a"}')


def rehearsal_for(tools: Mapping[str, Tool]) -> Rehearsal:
    """A page that no call of these tools writes to needs no copy."""
    made = (tool.implementation for tool in tools.values())
    wanted = any(each.signature.context_parameter for each in made if each is not None)
    return WITH_CONTEXT if wanted else PLAIN
