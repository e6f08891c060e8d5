"""A runtime with the toolbox and the shipped jail, and an agent who may reach a little of everything."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringfence.assembly import open_runtime
from ringfence.runtime import Completed, Failed, Outcome, Refused, Runtime
from tests.acceptance.spine.household import config

MODULE = "ringfence.tools"


@dataclass(kw_only=True)
class Desk:
    """An open runtime, and short ways to call."""

    runtime: Runtime
    workspace: Path

    async def call(self, tool: str, **arguments: Any) -> Outcome:
        outcome: Outcome = await self.runtime.session(agent="ana", user="ulla").call(tool, arguments)
        return outcome

    async def output(self, tool: str, **arguments: Any) -> Any:
        outcome = await self.call(tool, **arguments)
        assert isinstance(outcome, Completed), outcome
        return outcome.output

    async def code(self, tool: str, **arguments: Any) -> str:
        outcome = await self.call(tool, **arguments)
        assert isinstance(outcome, Failed | Refused), outcome
        return outcome.code


@asynccontextmanager
async def open_desk(folder: Path, *, limits: dict[str, Any] | None = None, **agent: Any) -> AsyncGenerator[Desk]:
    """The toolbox for one agent; its workspace is below the folder."""
    workspace = folder / "work"
    settings = config(
        folder,
        agent={
            "workspace": str(workspace),
            "files": {"read": ["notes"], "write": ["out"]},
            "processes": {"allow": ["wc", "cat", "sleep"]},
            **agent,
        },
        tools={"modules": [MODULE]},
        sandbox={"kind": "local", "limits": limits or {}},
    )
    (workspace / "notes").mkdir(parents=True)
    (workspace / "private").mkdir()
    (workspace / "notes" / "a.md").write_text("hello\na refund\n")
    (workspace / "private" / "key.txt").write_text("a secret refund\n")
    async with open_runtime(settings, accept_as="bob") as runtime:
        yield Desk(runtime=runtime, workspace=workspace)
