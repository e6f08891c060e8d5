"""A test's hold on real jails: it describes tool modules, registers them and calls their tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ringfence.agents.profile import Permits
from ringfence.contract.limits import Limits
from ringfence.execution.sandbox import Job, RawOutput
from ringfence.policy.grant import resolve_grant
from ringfence.registry.pins import Ledger, Offered
from ringfence.registry.registry import RegisteredTool, register
from ringfence.sandbox.describe import Described, Describer
from ringfence.sandbox.floor import Floor
from ringfence.sandbox.identities import Identities
from ringfence.sandbox.local import LocalProcessSandbox
from ringfence.sandbox.pool import Pool, PoolBounds
from ringfence.sandbox.snapshot import Snapshots

TOOLS = Path(__file__).parent / "tools"
STILL_OPEN: list[Yard] = []


@dataclass(kw_only=True)
class Yard:
    """One sandbox with its pool, and the tools that were registered."""

    state: Path
    bounds: PoolBounds = field(default_factory=PoolBounds)
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    identities: Identities = field(default_factory=Identities)
    tools: dict[str, RegisteredTool] = field(default_factory=dict[str, RegisteredTool])
    workspaces: dict[str, str] = field(default_factory=dict[str, str])
    permits: Permits = field(default_factory=Permits)
    floor: Floor = field(default_factory=Floor)

    def __post_init__(self) -> None:
        self.snapshots = Snapshots(self.state)
        self.pool = Pool(self.snapshots, bounds=self.bounds, identities=self.identities)
        self.sandbox = LocalProcessSandbox(
            self.pool, environment=self.environment, workspaces=self.workspaces, floor=self.floor
        )
        self.describer = Describer(self.pool, snapshots=self.snapshots)
        STILL_OPEN.append(self)

    async def load(self, module: str, *, folder: Path = TOOLS) -> Described:
        """Describe a module and register what it declares."""
        return self.register(await self.describer.describe(module, path=[folder]))

    def register(self, described: Described) -> Described:
        offers = [
            Offered(tool=tool, source=described.source, source_digest=described.digest, accepted_by="test")
            for tool in described.tools
        ]
        self.tools.update(register(offers, ledger=Ledger()).tools)
        return described

    def job(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        agent: str = "ana",
        limits: Limits | None = None,
    ) -> Job:
        return Job(
            kind="python",
            invocation_id="call-1",
            tool=self.tools[tool],
            arguments=json.dumps(arguments or {}).encode(),
            grant=resolve_grant(tool, self.tools[tool].tool.needs, permits=self.permits),
            limits=limits or Limits(),
            agent=agent,
            session="session-1",
            idempotency_key="key-1",
        )

    async def run(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        agent: str = "ana",
        limits: Limits | None = None,
    ) -> RawOutput:
        """What a call came to."""
        return await self.sandbox.run(self.job(tool, arguments, agent=agent, limits=limits))

    async def output(self, tool: str, arguments: Mapping[str, Any] | None = None, *, agent: str = "ana") -> Any:
        """What a call returned; it must have returned."""
        raw = await self.run(tool, arguments, agent=agent)
        assert raw.fault is None, raw
        assert raw.reply is not None
        return json.loads(raw.reply)

    async def fault(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, limits: Limits | None = None
    ) -> tuple[str, str]:
        """Why a call returned nothing; it must not have returned."""
        raw = await self.run(tool, arguments, limits=limits)
        assert raw.fault is not None, raw
        assert raw.reply is None
        return raw.fault.code, raw.fault.message

    async def close(self) -> None:
        STILL_OPEN[:] = [each for each in STILL_OPEN if each is not self]
        await self.sandbox.close()
