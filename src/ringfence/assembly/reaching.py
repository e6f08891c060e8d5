"""The network edge of a runtime, which is loaded when the first tool with a Network need is to be jailed.

Takes: nothing.  Gives: an `Edge`.  Never: loads cryptography and HTTP for a program whose tools have no way out.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringfence.edge.edge import NetworkEdge
    from ringfence.execution.edge import Passage, Trust, WaysOut
    from ringfence.execution.sandbox import Job
    from ringfence.policy.grant import Grant, Way


class EdgeWhenNeeded:
    """Stands for the edge until somebody needs it."""

    @cached_property
    def _edge(self) -> NetworkEdge:
        from ringfence.edge.edge import NetworkEdge

        return NetworkEdge()

    def trust(self, grant: Grant, *, way: Way) -> Trust:
        return self._edge.trust(grant, way=way)

    def open(self, job: Job, *, trust: Trust, ways: WaysOut) -> Passage:
        return self._edge.open(job, trust=trust, ways=ways)

    async def close(self) -> None:
        if "_edge" in vars(self):
            await self._edge.close()
