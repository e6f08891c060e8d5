"""A process that makes calls, says which point each has reached, and is killed by another one meanwhile.

Takes: a config as JSON, the port of the far side, the number of its first key.  Gives: one line per point.
Never: ends by itself; whoever started it kills it.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from itertools import count
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.execution.sandbox import Job, RawOutput
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import scripted

# A scripted jail is refused where no test runs.
assert pytest.__version__

POINTS = ("reserved", "sent", "replied", "committed")


async def reach(point: str, key: str) -> None:
    print(point, key, flush=True)
    await asyncio.sleep(random.uniform(0, 0.02))


async def main(config: dict[str, Any], port: int, first: int) -> None:
    jail = scripted()

    async def run(job: Job) -> RawOutput:
        key = json.loads(job.arguments)["title"]
        await reach("reserved", key)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{key}\n".encode())
        await reader.readline()
        writer.close()
        await reach("sent", key)
        await reach("replied", key)
        return RawOutput(reply=json.dumps(f"answer to {key}").encode())

    jail.run = run  # type: ignore[method-assign]
    async with open_runtime(config, tools=toolbox.ALL, dangerously_sandbox=jail) as runtime:
        session = runtime.session(agent="ana", user="ulla")
        for number in count(first):
            key = f"k{number}"
            outcome = await session.call("draft", {"title": key}, idempotency_key=key)
            assert outcome.status == "completed", outcome
            await reach("committed", key)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
