"""One of two processes that make a granted call at the same moment; prints how often it ran here.

Takes: a folder.  Gives: one line.  Never: runs tool code.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest  # noqa: F401  # pyright: ignore[reportUnusedImport]  # the scripted sandbox works in a test run alone

from ringfence.assembly import open_runtime
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import config, scripted


async def race(folder: Path) -> str:
    jail = scripted()
    async with open_runtime(config(folder), tools=toolbox.ALL, dangerously_sandbox=jail) as runtime:
        session = runtime.session(agent="ana", user="ulla")
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        outcome = await session.call("pay", {"to": "shop", "amount": 5})
    return f"{len(jail.jobs)} {getattr(outcome, 'code', outcome.status)}"


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(race(Path(sys.argv[1]))) + "\n")
