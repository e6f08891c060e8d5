"""What an ordinary user's host does, as one program: it prints what its jails did, as JSON."""

# ruff: noqa: ASYNC240  a test may look at files while nothing else waits for the loop
from __future__ import annotations

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from driver import Yard  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

from ringfence.contract.limits import Limits

LIMITS = Limits(cpu_seconds=1, wall_seconds=20, memory_mb=96, disk_mb=4)
GREEDY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("spin", {}),
    ("swallow_memory", {}),
    ("fill_the_disk", {}),
    ("start_threads", {}),
    ("forge_then_return", {"what": "early"}),
    ("broken", {"text": "x"}),
)


async def main() -> None:
    yard: Any = Yard(state=Path(tempfile.mkdtemp()))
    for module in ("plain", "nosy", "greedy", "forger"):
        await yard.load(module)
    raw = await yard.run("add", {"a": 1, "b": 2})
    told = {
        "reply": json.loads(raw.reply),
        "posture": raw.evidence["posture"],
        "process": raw.evidence["process"],
        "tries": await yard.output("tries"),
        "surroundings": await yard.output("surroundings"),
        "remembered": [await yard.output("remember", {"word": word}) for word in ("one", "two")],
        "random": [(await yard.output("chance"))[1] for _ in range(3)],
        "threads": await yard.output("threads", {"wanted": 200}),
        "faults": [(await yard.fault(tool, arguments, limits=LIMITS))[0] for tool, arguments in GREEDY],
        "peak": raw.effects.peak_memory_bytes > 1 << 20,
    }
    zygotes = [jail.opened.posture.zygote for jail in yard.pool.jails()]
    born = [pid for seen in zygotes for pid in (seen.pid, seen.status.parent)]
    told["jails"] = len(zygotes)
    await yard.close()
    told["left"] = [pid for pid in born if os.path.exists(f"/proc/{pid}")]
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main())
