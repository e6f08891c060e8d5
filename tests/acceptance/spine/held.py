"""A jail that keeps every call until it is told to go on, so that a test can act while calls run."""

from __future__ import annotations

import asyncio

from ringfence.execution.sandbox import Job, RawOutput
from ringfence.testing import DangerouslyScriptedSandbox
from tests.acceptance.spine.household import REPLIES


class HeldSandbox(DangerouslyScriptedSandbox):
    """Answers as scripted, but only once `go` is set; notes the calls that were ended meanwhile."""

    def __init__(self) -> None:
        super().__init__(REPLIES)
        self.go = asyncio.Event()
        self.ended: list[str] = []
        self._arrived = asyncio.Condition()
        self._count = 0

    async def run(self, job: Job) -> RawOutput:
        async with self._arrived:
            self._count += 1
            self._arrived.notify_all()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.ended.append(job.tool.name)
            raise
        return await super().run(job)

    async def holds(self, count: int) -> None:
        """Wait until so many calls have arrived."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: self._count >= count)
