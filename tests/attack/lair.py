"""A runtime over hostile modules that a test writes down, in the jail that ships.

Takes: a folder and the text of modules.  Gives: an open runtime, and short ways to call and to read what was seen.
Never: imports a module of the lair; only the jail does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringfence.assembly import open_runtime
from ringfence.runtime import Completed, Outcome, Runtime

AGENT = "mallory"
HEAD = "from __future__ import annotations\nfrom ringfence import tool\n"


@dataclass(frozen=True, kw_only=True)
class Lair:
    """An open runtime and the folder that its modules were read from."""

    runtime: Runtime
    tools: Path

    async def call(self, name: str, *, by: str = AGENT, **arguments: Any) -> Outcome:
        """One call in a session of its own."""
        session = self.runtime.session(agent=by, user="tester")
        return await session.call(name, arguments)

    async def said(self, name: str, *, by: str = AGENT, **arguments: Any) -> Any:
        """The output of a call that completes."""
        outcome = await self.call(name, by=by, **arguments)
        assert isinstance(outcome, Completed), outcome
        return outcome.output

    async def seen(self, outcome: Outcome) -> dict[str, Any]:
        """What the host saw of the process that served a call."""
        async for event in self.runtime.audit.export():
            if event.get("invocation_id") == outcome.invocation_id and "evidence" in (event.get("body") or {}):
                evidence: dict[str, Any] = event["body"]["evidence"]
                return evidence
        raise AssertionError(f"no evidence of {outcome}")


def settings(
    folder: Path,
    *,
    modules: Sequence[str],
    agents: Sequence[str] = (AGENT,),
    limits: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The shipped defaults, but for the limits that a test lowers to be quick."""
    state = folder / "state"
    return {
        "version": 1,
        "tools": {"modules": list(modules), "path": [str(folder / "tools")]},
        "people": {"olga": {"roles": ["operator"]}},
        "agents": {name: {"allowed_tools": ["*"]} for name in agents},
        "sandbox": {"kind": "local", **({"limits": dict(limits)} if limits else {})},
        "store": {"url": f"sqlite:///{state}/ringfence.db"},
        "audit": {"anchor": str(state / "anchor.log"), "signing_key": str(state / "audit.key")},
    }


@asynccontextmanager
async def open_lair(
    folder: Path,
    modules: Mapping[str, str],
    *,
    agents: Sequence[str] = (AGENT,),
    limits: Mapping[str, float] | None = None,
) -> AsyncGenerator[Lair, None]:
    """Write the modules, open a runtime over them; every process of it must be gone when it closes."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name, text in modules.items():
        (tools / f"{name}.py").write_text(HEAD + text, encoding="utf-8")
    named = [name.replace("/", ".") for name in modules]
    config = settings(folder, modules=named, agents=agents, limits=limits)
    async with open_runtime(config, accept_as="olga") as runtime:
        yield Lair(runtime=runtime, tools=tools)


def open_descriptors() -> int:
    """How many descriptors this process has."""
    return len(os.listdir("/proc/self/fd"))


def unjailed(module: Path, name: str, **arguments: Any) -> subprocess.Popen[str]:
    """The same function of the same module, in a plain process without a jail; it prints what it returns as JSON."""
    script = (
        "import importlib, json, sys; sys.path.insert(0, sys.argv[1]);"
        "found = getattr(importlib.import_module(sys.argv[2]), sys.argv[3]);"
        "print(json.dumps(found.implementation.function(**json.loads(sys.argv[4]))))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script, str(module.parent), module.stem, name, json.dumps(arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=module.parent,
    )


def answer(process: subprocess.Popen[str]) -> Any:
    """What an unjailed function returned."""
    told, _ = process.communicate(timeout=30)
    return json.loads(told)
