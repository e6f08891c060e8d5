"""Where tools come from: modules that the config names, and tools that a program hands over.

Takes: a config and tools from code.  Gives: offers for the registry, and the sandbox that will run them.
Never: imports a module that a config names; a jail describes it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ringfence.assembly.config import Config
from ringfence.assembly.floor import floor_of
from ringfence.assembly.folders import find_folders
from ringfence.assembly.reaching import EdgeWhenNeeded
from ringfence.contract.tool import Tool
from ringfence.execution.sandbox import DenyAllSandbox, Sandbox
from ringfence.execution.storage import Desks
from ringfence.registry.pins import Offered
from ringfence.sandbox.describe import Described, Describer, Home, home_of
from ringfence.sandbox.local import LocalProcessSandbox
from ringfence.sandbox.pool import Pool, PoolBounds
from ringfence.sandbox.snapshot import Snapshots

FROM_CODE = "code"


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What describes tools, and what will run them; they share their jails' fork server."""

    config: Config
    sandbox: Sandbox
    describer: Describer
    snapshots: Snapshots

    async def offers(self, tools: Sequence[Tool], *, accept_as: str | None) -> list[Offered]:
        """Every contract on offer: the config's modules and folders first, then what code handed over."""
        path = module_path(self.config)
        named = [await self.describer.describe(module, path=path) for module in self.config.tools.modules]
        handed = await self._handed_over(tools)
        found = find_folders(self.config.tools.folders)
        return [
            *_offered(named, accepted_by=accept_as, kind="module"),
            *(each.offered(snapshots=self.snapshots, accepted_by=accept_as) for each in found),
            *_offered(handed, accepted_by=accept_as or FROM_CODE, kind="code"),
        ]

    @property
    def whole(self) -> frozenset[str]:
        """The sources that show all of their tools here; a program may hand over some of a module's."""
        return frozenset(f"module:{module}" for module in self.config.tools.modules)

    async def _handed_over(self, tools: Sequence[Tool]) -> Sequence[Described]:
        """In a jail the contracts must be found again; where none will run, their source is only named."""
        if isinstance(self.sandbox, LocalProcessSandbox):
            return await self.describer.describe_declared(tools)
        by_home: dict[Home, list[Tool]] = {}
        for tool in tools:
            by_home.setdefault(home_of(tool), []).append(tool)
        return [
            Described(module=home.module, source=home.module, digest=home.read().digest, tools=tuple(its))
            for home, its in by_home.items()
        ]


def module_path(config: Config) -> list[Path]:
    """Where modules are looked for: as the config says, else in its folder and then where this interpreter looks."""
    return list(config.tools.path) or [config.root, *(Path(entry) for entry in sys.path if entry)]


@asynccontextmanager
async def open_sources(
    config: Config, *, dangerously_sandbox: Sandbox | None, desks: Desks | None = None
) -> AsyncGenerator[Sources, None]:
    """The sandbox of this configuration; none runs anything unless the file says so."""
    snapshots = Snapshots(config.state)
    pool = Pool(snapshots, bounds=PoolBounds(spares=config.sandbox.spares))
    edge = EdgeWhenNeeded()
    sandbox = dangerously_sandbox or _configured(config, pool, edge=edge, desks=desks)
    try:
        yield Sources(
            config=config, sandbox=sandbox, describer=Describer(pool, snapshots=snapshots), snapshots=snapshots
        )
    finally:
        await sandbox.close()
        await pool.close()
        await edge.close()


def _configured(config: Config, pool: Pool, *, edge: EdgeWhenNeeded, desks: Desks | None) -> Sandbox:
    if config.sandbox.kind == "deny":
        return DenyAllSandbox()
    passed_on = {name: os.environ[name] for name in config.sandbox.env if name in os.environ}
    return LocalProcessSandbox(
        pool,
        environment=passed_on,
        workspaces={name: agent.workspace for name, agent in config.agents.items()},
        floor=floor_of(config),
        edge=edge,
        desks=desks,
        least=config.sandbox.posture,
    )


def _offered(described: Sequence[Described], *, accepted_by: str | None, kind: str) -> list[Offered]:
    return [
        Offered(
            tool=tool,
            source=f"{kind}:{each.module}",
            source_digest=each.digest,
            accepted_by=accepted_by,
            acceptance="first_load" if accepted_by == FROM_CODE else "review",
        )
        for each in described
        for tool in each.tools
    ]
