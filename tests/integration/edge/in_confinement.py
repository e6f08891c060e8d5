"""Tools with a way out on a host without namespaces, as one program: it prints what each came to, as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from ringfence.execution.sandbox import Fault
from tests.integration.edge.jails import TOOLS, EdgeYard
from tests.integration.edge.matrix import PERMITS, ROWS, furnished, run_rows

_CLOSED = ("127.0.0.1", "::1", "169.254.169.254", "10.0.0.1", "8.8.8.8")


async def attempts(folder: Path) -> dict[str, Any]:
    """What tools try that is not granted, in real jails."""
    async with furnished(folder, database_port=0) as (world, far):
        yard = EdgeYard(state=folder / "state", world=world, permits=PERMITS)
        try:
            for module in ("reaching", "early"):
                await yard.load(module, folder=TOOLS)
            told: dict[str, Any] = {
                "calls": await outcomes_of(yard, "try_calls"),
                "early": await came_of(yard, "what_came_of_it"),
                "closed": sorted({await came_of(yard, "dial", host=host, port=80) for host in _CLOSED}),
                "stay": await came_of(yard, "stay"),
                "asked": [*world.asked],
                "dialled": [*world.dialled],
                "heard": far["other"].connections,
                "answering": await answering(yard),
            }
            return told
        finally:
            await yard.close()


async def came_of(yard: EdgeYard, tool: str, **arguments: Any) -> Any:
    """What a tool gave, or the code of its fault."""
    gave, _ = await yard.reach(tool, **arguments)
    return gave.code if isinstance(gave, Fault) else gave


async def outcomes_of(yard: EdgeYard, tool: str) -> Any:
    """Each outcome of many tries once, or the code of the fault."""
    gave, _ = await yard.reach(tool)
    return gave.code if isinstance(gave, Fault) else sorted(set(gave.values()))


async def answering(yard: EdgeYard) -> Any:
    """A module that puts itself in the edge's place."""
    await yard.load("answering", folder=TOOLS)
    came, _ = await yard.reach("what_came_of_answering")
    return came.message if isinstance(came, Fault) else came


async def main(folder: Path, words: list[str]) -> dict[str, Any]:
    if words[0] == "attempts":
        return await attempts(folder)
    return await run_rows(folder, database_port=int(words[1]), rows=ROWS)


if __name__ == "__main__":
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        print(json.dumps(asyncio.run(main(Path(made), sys.argv[1:]))))
