"""The program: it fetches bytes on a new connection, directly or from a network whose every way leads to the edge.

Takes: `EDGE_BENCH` in its environment: a way (or `direct`), a folder, the far side's two ports.
Gives: times of one fetch.  Never: sends another request on either way.
"""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
from functools import partial
from pathlib import Path

from bench.harness.sides import Local
from bench.harness.worker import serve_sides
from bench.sides.edge_far import HOST
from ringfence.inside.ways import open_ways
from ringfence.kernel.namespaces import NEW_NETWORK
from ringfence.kernel.syscalls import call

LARGE, SMALL = 128 << 20, 200
_buffer = bytearray(1 << 18)


def fetch(count: int, *, address: str, port: int, tls: ssl.SSLContext | None) -> None:
    made = socket.create_connection((address, port))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with tls.wrap_socket(made, server_hostname=HOST) if tls else made as stream:
        stream.sendall(f"GET /{count} HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode())
        heard = 0
        while some := stream.recv_into(_buffer):
            heard += some
        if heard < count:
            raise RuntimeError(f"{heard} bytes of {count}")


def through(way: str, folder: str, ports: list[str]) -> str:
    """Move into a network of one's own and hand the ways to an edge; gives the far side's address there."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "bench.sides.edge_host", str(theirs.fileno()), way, folder, *ports]
    subprocess.Popen(command, pass_fds=[theirs.fileno()])
    theirs.close()
    call("unshare", NEW_NETWORK)
    descriptors = open_ways([int(port) for port in ports])
    socket.send_fds(ours, [b"w"], descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    address = ours.recv(64).decode()
    ours.detach()
    return address


def main() -> None:
    way, folder, *ports = os.environ["EDGE_BENCH"].split()
    address = "127.0.0.1" if way == "direct" else through(way, folder, ports)
    trusted = Path(folder) / ("authority.pem" if way == "inspected" else "roots.pem")
    tls = ssl.create_default_context(cafile=str(trusted))
    plain, secure = (int(port) for port in ports)
    sides = {
        "plain": partial(fetch, address=address, port=plain, tls=None),
        "tls": partial(fetch, address=address, port=secure, tls=tls),
    }
    serve_sides(
        {
            f"{name}_{size}": Local(name=f"{name}_{size}", function=partial(side, count))
            for name, side in sides.items()
            for size, count in (("large", LARGE), ("small", SMALL))
        }
    )


if __name__ == "__main__":
    main()
