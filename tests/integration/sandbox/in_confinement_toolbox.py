"""The ready tools on a host without namespaces, as one program: it prints what happened, as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from driver import Yard  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]
from in_confinement_files import furnish  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Files
from ringfence.sandbox.floor import Floor

PERMITS = Permits(files=Files(read=["knowledge", "outbox"], write=["outbox"]))


async def calls(folder: Path) -> dict[str, Any]:
    ana = furnish(folder / "ana")
    yard: Any = Yard(state=folder / "state", workspaces={"ana": str(ana)}, permits=PERMITS, floor=Floor(homes={}))
    yard.register(await yard.describer.describe("ringfence.tools", path=[]))
    ran = await yard.run("run_python", {"code": "open('/etc/shadow')"})
    told: dict[str, Any] = {
        "posture": ran.evidence["posture"],
        "python": (await yard.output("run_python", {"code": "6 * 7"}))["value"],
        "reached": json.loads(ran.reply)["error"].splitlines()[-1].split(":")[0],
        "read": (await yard.output("read_file", {"path": "knowledge/a"}))["text"],
        "climbed": (await yard.fault("read_file", {"path": "../../etc/passwd"}))[0],
        "private": (await yard.fault("read_file", {"path": "private/a"}))[0],
        "wrote": await yard.output("write_file", {"path": "outbox/new/b", "text": "knowledge"}),
        "over": (await yard.fault("write_file", {"path": "knowledge/a", "text": "x", "mode": "replace"}))[0],
        "found": [match["path"] for match in (await yard.output("search_files", {"pattern": "knowledge"}))["matches"]],
    }
    await yard.close()
    return told


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        Path(scratch).chmod(0o755)
        sys.stdout.write(json.dumps(asyncio.run(calls(Path(scratch)))))
