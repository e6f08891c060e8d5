"""The ready tools on a host without namespaces, as one program: it prints what each came to, as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ringfence.runtime import Completed
from tests.acceptance.toolbox.household_of import open_desk


async def run(folder: Path) -> dict[str, Any]:
    async with open_desk(folder) as desk:
        wrote = await desk.call("write_file", path="out/deep/b.md", text="written")
        assert isinstance(wrote, Completed), wrote
        return {
            "read": (await desk.output("read_file", path="notes/a.md"))["text"],
            "found": [each["path"] for each in (await desk.output("search_files", pattern="refund"))["matches"]],
            "named": [
                each["path"] for each in (await desk.output("search_files", pattern="*", kind="name"))["matches"]
            ],
            "wrote": [(desk.workspace / "out/deep/b.md").read_text(), wrote.effects["files"]["written"]],
            "outside": [await desk.code("read_file", path=path) for path in ("private/key.txt", "../../etc/passwd")],
            "python": (await desk.output("run_python", code="6 * 7"))["value"],
            "command": await desk.code("run_command", program="wc"),
        }


if __name__ == "__main__":
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        print(json.dumps(asyncio.run(run(Path(made)))))
