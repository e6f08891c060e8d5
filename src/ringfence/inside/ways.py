"""The ways out of one call's own network: sockets that are made here and handed to the host.

Takes: the ports that the tool may dial.  Gives: descriptors of listeners and of the resolver's socket.
Never: keeps one; what listens for a jail is outside of it.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence

from ringfence.kernel import routes

RESOLVER_ADDRESS, RESOLVER_PORT = "127.0.0.1", 53
_BACKLOG = 256


def open_ways(ports: Sequence[int]) -> list[int]:
    """One listener per port for every address of either family, in order, then the resolver's socket."""
    routes.make_every_address_local()
    resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    resolver.bind((RESOLVER_ADDRESS, RESOLVER_PORT))
    return [*map(_listener, ports), resolver.detach()]


def _listener(port: int) -> int:
    both = socket.has_dualstack_ipv6()
    listener = socket.create_server(
        ("", port),
        family=socket.AF_INET6 if both else socket.AF_INET,
        backlog=_BACKLOG,
        dualstack_ipv6=both,
    )
    return listener.detach()
