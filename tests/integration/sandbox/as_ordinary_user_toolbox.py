"""The ready tools on an ordinary user's host, as one program: it prints what they gave, as JSON."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from driver import Yard  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Files, Processes
from ringfence.sandbox.floor import Floor

PERMITS = Permits(files=Files(read=["notes"], write=["outbox"]), processes=Processes("wc", "cat"))


async def main(folder: Path) -> dict[str, Any]:
    (folder / "work" / "notes").mkdir(parents=True)
    (folder / "work" / "notes" / "a.md").write_text("hello\na refund\n")
    yard: Any = Yard(
        state=folder / "state", workspaces={"ana": str(folder / "work")}, permits=PERMITS, floor=Floor(homes={})
    )
    yard.register(await yard.describer.describe("ringfence.tools", path=[]))
    counted = await yard.run("run_command", {"program": "wc", "arguments": ["-l", "notes/a.md"]})
    told = {
        "posture": counted.evidence["posture"],
        "python": (await yard.output("run_python", {"code": "6 * 7"}))["value"],
        "read": (await yard.output("read_file", {"path": "notes/a.md"}))["text"],
        "wrote": await yard.output("write_file", {"path": "outbox/new/b", "text": "x"}),
        "found": [
            match["path"]
            for match in (await yard.output("search_files", {"pattern": "ref.nd", "kind": "expression"}))["matches"]
        ],
        "ran": json.loads(counted.reply)["stdout"],
        "started": counted.effects.processes,
        "unlisted": (await yard.fault("run_command", {"program": "id"}))[0],
    }
    await yard.close()
    return told


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        print(json.dumps(asyncio.run(main(Path(made).resolve()))))
