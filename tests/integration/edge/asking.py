"""One call's passage and a program whose connections the kernel asks about, without the rest of a jail."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ringfence.contract.capabilities import Network
from ringfence.contract.safety import Egress
from ringfence.edge.passage import CallPassage
from ringfence.edge.terms import Bounds, Terms
from ringfence.execution.edge import Asking
from tests.integration.edge.world import World
from tests.integration.edge.yard import Ran

ASKER = Path(__file__).parent / "asker.py"


async def run_asker(
    world: World,
    function: str,
    *arguments: Any,
    network: Network,
    bounds: Bounds | None = None,
    belongs: Callable[[int, int], bool] = int.__eq__,
    known: tuple[str, ...] = (),
    ends_early: bool = False,
) -> Ran:
    """Run one function of `asker.py`; `belongs` takes the process that asks and the one that was started."""
    terms = Terms(network=network, egress=Egress.WRITE, way="opaque", idempotency_key="", bounds=bounds or Bounds())
    ours, theirs = socket.socketpair()
    child = await asyncio.create_subprocess_exec(
        sys.executable, str(ASKER), str(theirs.fileno()), json.dumps({"function": function, "arguments": arguments}),
        pass_fds=[theirs.fileno()], stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), "RES_OPTIONS": "use-vc attempts:1"},
    )  # fmt: skip
    theirs.close()
    _, descriptors, _, _ = await asyncio.to_thread(socket.recv_fds, ours, 1, 1)
    asking = Asking(listener=descriptors[0], belongs=lambda process: belongs(process, child.pid))
    passage = CallPassage(terms, ways=asking, authority=None, outside=world.outside())
    for name in known:
        passage.names.ask(name)
    effects: dict[str, Any] = {}
    try:
        ours.send(b"g")
        if ends_early:
            await asyncio.to_thread(ours.recv, 1)
            effects = passage.close()
            ours.send(b"g")
        printed, complaints = await child.communicate()
    finally:
        effects = effects or passage.close()
        ours.close()
    assert child.returncode == 0, complaints.decode()
    said = json.loads(printed)
    return Ran(gave=said.get("gave"), raised=said.get("raised"), effects=effects)
