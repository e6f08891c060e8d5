"""An ordinary user's host with an edge that only says what was dialled: it prints what its jails did, as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from driver import Yard  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

from ringfence.agents.profile import Permits
from ringfence.approvals.warrant import Warrant
from ringfence.contract.capabilities import Network
from ringfence.execution.edge import Trust, Ways, WaysOut
from ringfence.execution.sandbox import Job
from ringfence.policy.grant import Grant, Way
from ringfence.sandbox.local import LocalProcessSandbox


class Telling:
    """Tells every program the address that it dialled."""

    def __init__(self, ways: Ways) -> None:
        self._listeners = [socket.socket(fileno=descriptor) for descriptor in ways.listeners]
        self._resolver = socket.socket(fileno=ways.resolver)
        self.dialled: list[str] = []
        for listener in self._listeners:
            asyncio.get_running_loop().add_reader(listener, self._accept, listener)

    def _accept(self, listener: socket.socket) -> None:
        made, _ = listener.accept()
        self.dialled.append(made.getsockname()[0])
        made.sendall(self.dialled[-1].encode())
        made.close()

    def close(self) -> dict[str, Any]:
        for listener in self._listeners:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()
        self._resolver.close()
        return {"dialled": self.dialled}


class StandIn:
    """An edge without a world behind it."""

    def trust(self, grant: Grant, *, way: Way) -> Trust:
        return Trust(roots="")

    def open(self, job: Job, *, trust: Trust, ways: WaysOut) -> Telling:
        assert isinstance(ways, Ways)
        return Telling(ways)

    async def close(self) -> None:
        """There is nothing to end."""


async def main() -> None:
    permits = Permits(network=Network.permit("api.example.com"))
    yard: Any = Yard(state=Path(tempfile.mkdtemp()), permits=permits)
    yard.sandbox = LocalProcessSandbox(yard.pool, edge=StandIn())
    await yard.load("dialling")
    told: list[Any] = []
    for address in ("198.18.0.2", "127.0.0.1", "::1"):
        job = yard.job("dial", {"address": address})
        warrant = Warrant(invocation_id=job.invocation_id, basis="allowed", approval_id=None, digest="")
        raw = await yard.sandbox.run(replace(job, warrant=warrant))
        told.append(raw.fault.message if raw.fault else [json.loads(raw.reply or b""), raw.effects.network])
    await yard.close()
    print(json.dumps({"uid": os.getuid(), "told": told}))


if __name__ == "__main__":
    asyncio.run(main())
