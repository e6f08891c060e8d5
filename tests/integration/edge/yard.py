"""One call's passage and a program behind it, without the rest of a jail."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringfence.contract.capabilities import Network
from ringfence.contract.safety import Egress
from ringfence.edge.authority import Authority
from ringfence.edge.passage import CallPassage
from ringfence.edge.terms import Bounds, Terms
from ringfence.execution.edge import Ways, ports_of
from ringfence.inside.mediation import EDGE_PORT
from ringfence.policy.grant import Way
from tests.integration.edge.world import World

CHILD = Path(__file__).parent / "child.py"
TRUST_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO")


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What the program said, and what the edge counted."""

    gave: Any
    raised: str | None
    effects: dict[str, Any]

    @property
    def codes(self) -> list[str]:
        return [refusal["code"] for refusal in self.effects["refusals"]]


async def run_client(
    world: World,
    function: str,
    *arguments: Any,
    network: Network,
    way: Way = "opaque",
    egress: Egress = Egress.WRITE,
    bounds: Bounds | None = None,
    roots: Path | None = None,
) -> Ran:
    """Run one function of `clients.py` with exactly this way out."""
    terms = Terms(network=network, egress=egress, way=way, idempotency_key="key-of-the-call", bounds=bounds or Bounds())
    authority = Authority(network) if way == "inspected" else None
    trusted = world.folder / "trusted.pem"
    trusted.write_text(authority.pem if authority else _text(roots))
    ours, theirs = socket.socketpair()
    order = {
        "files": {"/etc/resolv.conf": "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n"},
        "folder": str(world.folder),
        "ports": sorted({*ports_of(network), EDGE_PORT}),
        "function": function,
        "arguments": arguments,
    }
    child = await asyncio.create_subprocess_exec(
        sys.executable, str(CHILD), str(theirs.fileno()), json.dumps(order),
        pass_fds=[theirs.fileno()], stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], **dict.fromkeys(TRUST_VARIABLES, str(trusted))},
    )  # fmt: skip
    theirs.close()
    passage = CallPassage(terms, ways=await _ways(ours), authority=authority, outside=world.outside())
    try:
        ours.send(b"g")
        printed, complaints = await child.communicate()
    finally:
        effects = passage.close()
        ours.close()
    assert child.returncode == 0, complaints.decode()
    said = json.loads(printed)
    return Ran(gave=said.get("gave"), raised=said.get("raised"), effects=effects)


def _text(roots: Path | None) -> str:
    return roots.read_text() if roots else ""


async def _ways(ours: socket.socket) -> Ways:
    def receive() -> Sequence[int]:
        return socket.recv_fds(ours, 1, 64)[1]

    descriptors = await asyncio.to_thread(receive)
    assert descriptors, "the child handed out no ways"
    for descriptor in descriptors:
        os.set_blocking(descriptor, False)
    return Ways(listeners=tuple(descriptors[:-1]), resolver=descriptors[-1])
