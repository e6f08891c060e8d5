"""Makes every address of a fresh network namespace local to it.

Takes: nothing.  Gives: a loopback interface that is up, and to which each address of either family leads.
Never: touches a network that has another interface.

Preconditions: the caller has CAP_NET_ADMIN over a network namespace of its own.
"""

from __future__ import annotations

import errno
import os
import socket
import struct

_MESSAGE = struct.Struct("=IHHII")
_LINK = struct.Struct("=BxHiII")
_ROUTE = struct.Struct("=BBBBBBBBI")
_ATTRIBUTE = struct.Struct("=HHI")
_NEW_LINK, _NEW_ROUTE, _ERROR = 16, 24, 2
_REQUEST, _ACKNOWLEDGE, _CREATE, _EXCLUSIVE = 0x1, 0x4, 0x400, 0x200
_UP = 0x1
_LOOPBACK = 1  # the first interface of every namespace
_TABLE_LOCAL, _STATIC, _SCOPE_HOST, _SCOPE_UNIVERSE, _TYPE_LOCAL = 255, 4, 254, 0, 2
_OUTPUT_INTERFACE = 4
_MOST_ANSWER = 4_096


def make_every_address_local() -> None:
    """lo up, and `local 0.0.0.0/0` and `local ::/0` through it."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        up = _LINK.pack(socket.AF_UNSPEC, 0, _LOOPBACK, _UP, _UP)
        _ask(kernel, _NEW_LINK, up, flags=0)
        _ask(kernel, _NEW_ROUTE, _local(socket.AF_INET, scope=_SCOPE_HOST), flags=_CREATE | _EXCLUSIVE)
        try:
            _ask(kernel, _NEW_ROUTE, _local(socket.AF_INET6, scope=_SCOPE_UNIVERSE), flags=_CREATE | _EXCLUSIVE)
        except OSError as failure:
            # A kernel without IPv6 has no such addresses to lead anywhere.
            if failure.errno not in (errno.EAFNOSUPPORT, errno.EOPNOTSUPP):
                raise


def _local(family: int, *, scope: int) -> bytes:
    body = _ROUTE.pack(family, 0, 0, 0, _TABLE_LOCAL, _STATIC, scope, _TYPE_LOCAL, 0)
    return body + _ATTRIBUTE.pack(_ATTRIBUTE.size, _OUTPUT_INTERFACE, _LOOPBACK)


def _ask(kernel: socket.socket, kind: int, body: bytes, *, flags: int) -> None:
    kernel.send(_MESSAGE.pack(_MESSAGE.size + len(body), kind, _REQUEST | _ACKNOWLEDGE | flags, 1, 0) + body)
    answer = kernel.recv(_MOST_ANSWER)
    (_, answered, _, _, _), (number,) = _MESSAGE.unpack_from(answer), struct.unpack_from("=i", answer, _MESSAGE.size)
    if answered != _ERROR or number:
        raise OSError(-number, f"rtnetlink {kind}: {os.strerror(-number)}")
