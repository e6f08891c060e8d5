"""One of two processes that resume the same approved call at the same moment; prints how often it ran here.

Takes: a folder and the id of a call.  Gives: one line.  Never: runs tool code.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest  # noqa: F401  # pyright: ignore[reportUnusedImport]  # a scripted sandbox works in tests alone

from ringfence.assembly import open_runtime
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import config, scripted


async def race(folder: Path, invocation_id: str) -> str:
    jail = scripted()
    async with open_runtime(config(folder), tools=toolbox.ALL, dangerously_sandbox=jail) as runtime:
        session = runtime.session(agent="ana", user="ulla", id="s1")
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        outcome = await session.resume(invocation_id)
    return f"{len(jail.jobs)} {getattr(outcome, 'code', outcome.status)}"


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(race(Path(sys.argv[1]), sys.argv[2])) + "\n")
