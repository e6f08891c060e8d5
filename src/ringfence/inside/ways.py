"""The ways out of one call's own network: sockets that are made here and handed to the host.

Takes: the ports that the tool may dial.  Gives: descriptors of listeners and of the resolver's socket.
Never: keeps one; what listens for a jail is outside of it.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

from ringfence.inside import wire
from ringfence.kernel import routes
from ringfence.kernel.message import Message
from ringfence.kernel.syscalls import call

RESOLVER_ADDRESS, RESOLVER_PORT = "127.0.0.1", 53
_BACKLOG = 256
_FAMILY = struct.Struct("=H")
_IP_REST, _IPV6_REST = struct.Struct("!H4s8x"), struct.Struct("!HI16sI")
_EVERY = bytes(16)
_OFF = struct.pack("i", 0)


def known_families() -> tuple[int, ...]:
    """The families of addresses that this kernel has, the one that can stand for all last."""
    return (socket.AF_INET, socket.AF_INET6) if socket.has_dualstack_ipv6() else (socket.AF_INET,)


def open_ways(ports: Sequence[int], *, families: Sequence[int] | None = None) -> list[int]:
    """One listener per port for every address of these families, in order, then the resolver's socket."""
    known = families or known_families()
    routes.make_every_address_local(known)
    listener = _listener_for_both if socket.AF_INET6 in known else _listener
    return [*map(listener, ports), _resolver()]


def say_ready(channel: int, *, handing_out: Sequence[int]) -> None:
    """The word that a spare waits, with its ways out; none of them stays here."""
    frame = wire.pack(wire.Kind.READY)
    if not handing_out:
        call("write", channel, frame, len(frame))
        return
    call("sendmsg", channel, Message(frame, descriptors=handing_out), 0)
    for descriptor in handing_out:
        call("close", descriptor)


def _listener_for_both(port: int) -> int:
    made = _new(socket.AF_INET6, socket.SOCK_STREAM)
    call("setsockopt", made, socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, _OFF, len(_OFF))
    _bind(made, _FAMILY.pack(socket.AF_INET6) + _IPV6_REST.pack(port, 0, _EVERY, 0))
    call("listen", made, _BACKLOG)
    return made


def _listener(port: int) -> int:
    made = _new(socket.AF_INET, socket.SOCK_STREAM)
    _bind(made, _FAMILY.pack(socket.AF_INET) + _IP_REST.pack(port, _EVERY[:4]))
    call("listen", made, _BACKLOG)
    return made


def _resolver() -> int:
    made = _new(socket.AF_INET, socket.SOCK_DGRAM)
    _bind(made, _FAMILY.pack(socket.AF_INET) + _IP_REST.pack(RESOLVER_PORT, socket.inet_aton(RESOLVER_ADDRESS)))
    return made


def _new(family: int, kind: int) -> int:
    return call("socket", family, kind | socket.SOCK_CLOEXEC, 0)


def _bind(made: int, address: bytes) -> None:
    call("bind", made, address, len(address))
