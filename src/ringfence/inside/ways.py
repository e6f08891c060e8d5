"""The ways out of one call's own network: sockets that are made here and handed to the host.

Takes: the ports that the tool may dial.  Gives: descriptors of listeners and of the resolver's socket.
Never: keeps one; what listens for a jail is outside of it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from ringfence.inside import wire
from ringfence.kernel import routes

RESOLVER_ADDRESS, RESOLVER_PORT = "127.0.0.1", 53
_BACKLOG = 256


def open_ways(ports: Sequence[int]) -> list[int]:
    """One listener per port for every address of either family, in order, then the resolver's socket."""
    routes.make_every_address_local()
    resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    resolver.bind((RESOLVER_ADDRESS, RESOLVER_PORT))
    return [*map(_listener, ports), resolver.detach()]


def count(ports: Sequence[int]) -> int:
    """How many descriptors `open_ways` gives."""
    return len(ports) + 1 if ports else 0


def say_ready(channel: int, *, handing_out: Sequence[int]) -> None:
    """The word that a spare waits, with its ways out; none of them stays here."""
    frame = wire.pack(wire.Kind.READY)
    if not handing_out:
        wire.send(channel, frame)
        return
    with socket.socket(fileno=os.dup(channel)) as host:
        socket.send_fds(host, [frame], list(handing_out))
    for descriptor in handing_out:
        os.close(descriptor)


def _listener(port: int) -> int:
    both = socket.has_dualstack_ipv6()
    listener = socket.create_server(
        ("", port),
        family=socket.AF_INET6 if both else socket.AF_INET,
        backlog=_BACKLOG,
        dualstack_ipv6=both,
    )
    return listener.detach()
