"""The toolbox without a jail: a context over a scratch workspace, for what each function does by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ringfence import Context
from ringfence.contract.tool import Tool
from ringfence.inside.file_client import Files
from ringfence.testing.unit import dangerously_call


class Bench:
    """A workspace of which everything was granted."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        files = Files(str(workspace), granted=[str(workspace)])
        self.context = Context(agent="ana", session="s", idempotency_key="k", clients={"files": files})

    def put(self, path: str, content: bytes | str) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    async def call(self, tool: Tool, **arguments: Any) -> Any:
        return await dangerously_call(tool, arguments, context=self.context)
