"""Two directions of one connection, at once.

Takes: what goes out and what comes back.  Gives: nothing.  Never: leaves one of them running when the other went wrong.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal


async def both(
    out: Coroutine[Any, Any, None],
    back: Coroutine[Any, Any, None],
    *,
    ends: Literal["together", "with the far side"] = "together",
) -> None:
    """Both directions at once; what goes wrong in one ends the other."""
    loop = asyncio.get_running_loop()
    outward, backward = loop.create_task(out), loop.create_task(back)
    try:
        if ends == "together":
            await asyncio.wait((outward, backward), return_when=asyncio.FIRST_EXCEPTION)
        else:
            await asyncio.wait((outward, backward), return_when=asyncio.FIRST_COMPLETED)
            if outward.done() and outward.exception() is None:
                await asyncio.wait((backward,))
    finally:
        outward.cancel()
        backward.cancel()
        found = await asyncio.gather(outward, backward, return_exceptions=True)
    for failure in found:
        if isinstance(failure, Exception):
            raise failure
