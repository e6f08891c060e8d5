"""What a host does whose machine or user has less: it keeps rows in a folder of its own, and prints what came of it."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

from ringfence.runtime import Completed
from tests.acceptance.storage.pantry import opened, step


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as pantry:
            await pantry.does(step("set", "k", {"a": 1}, scope="agent"), step("set", "k", "mine", scope="tool"))
            outcome = await pantry.call("later", {"steps": json.dumps([step("set", "x", 1), step("list")])})
            assert isinstance(outcome, Completed), outcome
            (first, *_) = await pantry.trail("tool_completed")
            told = {
                "posture": first["body"]["evidence"]["posture"],
                "other tool": await pantry.does(
                    step("get", "k", scope="agent"), step("get", "k", scope="tool"), tool="also"
                ),
                "other agent": await pantry.does(
                    step("get", "k", scope="agent"), step("get", "k", scope="tool"), agent="ben"
                ),
                "awaited": json.loads(outcome.output),
                "effects": outcome.effects["storage"],
            }
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main())
