"""Real jails with the edge behind them, and a world behind the edge."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ringfence.agents.profile import Permits
from ringfence.approvals.warrant import Warrant
from ringfence.contract.capabilities import Network, Processes
from ringfence.edge.edge import NetworkEdge
from ringfence.execution.sandbox import Job, RawOutput
from ringfence.sandbox.local import LocalProcessSandbox
from tests.integration.edge.world import World
from tests.integration.sandbox.driver import Yard

TOOLS = Path(__file__).parent / "tools"
PERMITS = Permits(
    network=Network.permit("api.example.com", "api.example.com:7000", "db.example.com:5432"),
    processes=Processes("curl"),
)


@dataclass(kw_only=True)
class EdgeYard(Yard):
    """A yard whose sandbox has an edge."""

    world: World
    permits: Permits = field(default_factory=lambda: PERMITS)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.edge = NetworkEdge(outside=self.world.outside())
        self.sandbox = LocalProcessSandbox(self.pool, edge=self.edge)

    def warranted(
        self, tool: str, arguments: dict[str, Any] | None = None, *, basis: Literal["allowed", "votes"] = "votes"
    ) -> Job:
        job = self.job(tool, arguments)
        return replace(job, warrant=Warrant(invocation_id=job.invocation_id, basis=basis, approval_id=None, digest=""))

    async def reach(self, tool: str, **arguments: Any) -> tuple[Any, RawOutput]:
        """Run one warranted call; its reply, or the code of its fault, and everything else."""
        raw = await self.sandbox.run(self.warranted(tool, arguments))
        if raw.fault is not None:
            return raw.fault, raw
        assert raw.reply is not None
        return json.loads(raw.reply), raw
