"""A tool that does nothing, played once in every spare before it waits.

Takes: a number.  Gives: it back.  Never: is offered to anybody; playing it makes this process's own copies of the
pages that every call writes to, while nobody waits for them.
"""

from __future__ import annotations

from ringfence.contract.context import Context
from ringfence.contract.tool import Tool, tool


def _declared() -> Tool:
    @tool(safety="read")
    def rehearse(ctx: Context, number: int, text: str) -> int:
        """Do nothing."""
        return number

    return rehearse


REHEARSAL = _declared()
ARGUMENTS = b'{"number":1,"text":"a"}'
JOB = b'{"task":"call","tool":"rehearse","agent":"","session":"","idempotency_key":""}'
