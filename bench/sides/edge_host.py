"""The edge in a process of its own, as it is in a host: one passage for one program's network.

Takes: a socket over which the ways come, a way, a folder and the far side's ports.  Gives: carried connections.
Never: ends before the program does.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.sides.edge_far import HOST
from ringfence.contract.capabilities import Network
from ringfence.contract.safety import Egress
from ringfence.edge.authority import Authority
from ringfence.edge.outside import Outside
from ringfence.edge.passage import CallPassage
from ringfence.edge.terms import Bounds, Terms
from ringfence.execution.edge import Ways

_WITHOUT_BOUND = Bounds(connections=1 << 40, bytes_in=1 << 60, bytes_out=1 << 60)


async def _here(_name: str) -> Sequence[str]:
    return ["127.0.0.1"]


async def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    folder, ports = Path(sys.argv[3]), sys.argv[4:]
    network = Network.permit(*(f"{HOST}:{port}" for port in ports), private=[f"127.0.0.1:{port}" for port in ports])
    inspected = sys.argv[2] == "inspected"
    authority = Authority(network) if inspected else None
    if authority is not None:
        (folder / "authority.pem").write_text(authority.pem)
    _, descriptors, _, _ = socket.recv_fds(control, 1, 16)
    passage = CallPassage(
        Terms(
            network=network,
            egress=Egress.WRITE,
            way="inspected" if inspected else "opaque",
            idempotency_key="",
            bounds=_WITHOUT_BOUND,
        ),
        ways=Ways(listeners=tuple(descriptors[:-1]), resolver=descriptors[-1]),
        authority=authority,
        outside=Outside(lookup=_here),
    )
    address = passage.names.ask(HOST).address or ""
    control.send(address.encode())
    await asyncio.get_running_loop().run_in_executor(None, control.recv, 1)
    passage.close()


if __name__ == "__main__":
    os.environ["SSL_CERT_FILE"] = str(Path(sys.argv[3]) / "roots.pem")
    asyncio.run(main())
