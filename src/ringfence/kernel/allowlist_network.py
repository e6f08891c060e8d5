"""The system calls that a tool with a way out may make besides, each with the reason why it is on the list.

Takes: nothing.  Gives: rows for the two stages of such a jail.  Never: another family than the internet's, a socket
that listens, or a raw one.

Every address is local in a full jail's own network, and nothing of the host's is in it: what these calls reach is the
edge, or nobody. A confined jail has no network of its own: there the kernel asks the edge before each connection, and
a zygote, for which nobody answers, makes none.
"""

from __future__ import annotations

from ringfence.kernel.allowlist import Row
from ringfence.kernel.notify import ASK, NEW_LISTENER, ONLY_DEATH_INTERRUPTS
from ringfence.kernel.seccomp import ArgumentCheck, Masked, OneOf

_AF_INET, _AF_INET6, _AF_NETLINK = 2, 10, 16
_SOCK_STREAM, _SOCK_DGRAM, _SOCK_RAW = 1, 2, 3
_TYPE_MASK = 0xF
_TCP, _UDP, _ROUTE = 6, 17, 0
_MSG_FASTOPEN = 0x2000_0000
_IP, _SOCKET, _IPV6 = 0, 1, 41
_SET_MODE_FILTER, _ALL_THREADS = 1, 1

_STREAM = (
    OneOf(argument=0, values=(_AF_INET, _AF_INET6), bits=32),
    Masked(argument=1, mask=_TYPE_MASK, value=_SOCK_STREAM),
    OneOf(argument=2, values=(0, _TCP), bits=32),
)
_DATAGRAM = (
    OneOf(argument=0, values=(_AF_INET, _AF_INET6), bits=32),
    Masked(argument=1, mask=_TYPE_MASK, value=_SOCK_DGRAM),
    OneOf(argument=2, values=(0, _UDP), bits=32),
)
_ROUTES = (
    OneOf(argument=0, values=(_AF_NETLINK,), bits=32),
    Masked(argument=1, mask=_TYPE_MASK, value=_SOCK_RAW),
    OneOf(argument=2, values=(_ROUTE,), bits=32),
)

# SOL_SOCKET: reuse, broadcast, buffers, keep-alive, time-outs of sending; TCP: delays, keep-alive, cork, time-outs;
# IP and IPv6: type of service, hops, errors as the C library's resolver wants them. No filters, no upper layers.
# No lingering: whoever closes the last copy of such a socket waits for it, and that can be the host. No time-outs of
# receiving: by one of them the host bounds how long it could be held by a listener that a spare handed out.
_OPTIONS = {
    _SOCKET: (2, 6, 7, 8, 9, 10, 12, 15, 21, 67),
    _TCP: (1, 2, 3, 4, 5, 6, 7, 8, 12, 18, 25),
    _IP: (1, 2, 8, 10, 11),
    _IPV6: (16, 23, 24, 25, 26, 67),
}


def _without_fast_open(argument: int) -> ArgumentCheck:
    return ArgumentCheck(alternatives=((Masked(argument=argument, mask=_MSG_FASTOPEN, value=0),),))


def _options(levels: dict[int, tuple[int, ...]]) -> ArgumentCheck:
    return ArgumentCheck(
        alternatives=tuple(
            (OneOf(argument=1, values=(level,), bits=32), OneOf(argument=2, values=names, bits=32))
            for level, names in levels.items()
        )
    )


WITH_NETWORK: tuple[Row, ...] = (
    Row("socket", "TCP, and UDP for the C library's resolver; no other family, no raw socket, no SCTP",
        ArgumentCheck(alternatives=(_STREAM, _DATAGRAM))),
    Row("connect", "every address is the jail's own; the edge takes up what arrives"),
    Row("setsockopt", "time-outs, buffers, keep-alive; no filters, no upper layers", _options(_OPTIONS)),
    Row("sendmsg", "the channel, connections; none that begins with its first bytes", _without_fast_open(2)),
    Row("sendmmsg", "the C library asks for both kinds of address at once", _without_fast_open(3)),
    Row("recvmmsg", "newer resolvers"),
)  # fmt: skip

MAKING_WAYS: tuple[Row, ...] = (
    Row("socket", "as in stage B, and the routes of the spare's own network",
        ArgumentCheck(alternatives=(_STREAM, _DATAGRAM, _ROUTES))),
    Row("bind", "a spare makes the listeners that it hands out; its tool cannot"),
    Row("listen", "a spare makes the listeners that it hands out; its tool cannot"),
)  # fmt: skip

ASKED_FIRST: tuple[Row, ...] = (
    Row("socket", "TCP alone, for the C library asks for names over it too: these sockets are of the host's network",
        ArgumentCheck(alternatives=(_STREAM,))),
    Row("connect", "the kernel asks the edge, which joins the socket to itself or refuses", ASK),
    Row("setsockopt", "time-outs, buffers, keep-alive; no filters, no upper layers", _options(_OPTIONS)),
    Row("sendto", "the channel, connections; no address, and none that begins with its first bytes",
        ArgumentCheck(alternatives=((OneOf(argument=4, values=(0,)),
                                     Masked(argument=3, mask=_MSG_FASTOPEN, value=0)),))),
    Row("sendmsg", "the channel, connections; none that begins with its first bytes", _without_fast_open(2)),
)  # fmt: skip

MAKING_ASKED: tuple[Row, ...] = (
    Row("seccomp", "a spare enters stage B, with a listener that it hands out: `ioctl`, which alone answers for the "
        "kernel, has no such command here",
        ArgumentCheck(alternatives=((OneOf(argument=0, values=(_SET_MODE_FILTER,), bits=32),
                                     OneOf(argument=1, values=(_ALL_THREADS, NEW_LISTENER,
                                                               NEW_LISTENER | ONLY_DEATH_INTERRUPTS), bits=32)),))),
)  # fmt: skip
