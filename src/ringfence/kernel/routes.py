"""Makes every address of a fresh network namespace local to it.

Takes: the families that the kernel knows.  Gives: a loopback interface that is up, and to which each address leads.
Never: touches a network that has another interface.

Preconditions: the caller has CAP_NET_ADMIN over a network namespace of its own.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Sequence

from ringfence.kernel.syscalls import call

_MESSAGE = struct.Struct("=IHHII")
_LINK = struct.Struct("=BxHiII")
_ROUTE = struct.Struct("=BBBBBBBBI")
_ATTRIBUTE = struct.Struct("=HHI")
_NEW_LINK, _NEW_ROUTE = 16, 24
_REQUEST, _ACKNOWLEDGE, _CREATE, _EXCLUSIVE = 0x1, 0x4, 0x400, 0x200
_UP = 0x1
_LOOPBACK = 1  # the first interface of every namespace
_TABLE_LOCAL, _STATIC, _TYPE_LOCAL = 255, 4, 2
_SCOPES: dict[int, int] = {socket.AF_INET: 254, socket.AF_INET6: 0}  # this host; IPv6 knows none but everywhere
_OUTPUT_INTERFACE = 4
# A header, the number 0, and the header that is answered; a refusal quotes all that it refuses, so it is longer.
_DONE_BYTES = 36


def make_every_address_local(families: Sequence[int]) -> None:
    """lo up, and a route `local` for all addresses of each family through it: `0.0.0.0/0`, `::/0`."""
    up = (_NEW_LINK, _LINK.pack(socket.AF_UNSPEC, 0, _LOOPBACK, _UP, _UP), 0)
    ways = [(_NEW_ROUTE, _local(family), _CREATE | _EXCLUSIVE) for family in families]
    kernel = call("socket", socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
    _ask(kernel, [up, *ways])
    call("close", kernel)


def _local(family: int) -> bytes:
    body = _ROUTE.pack(family, 0, 0, 0, _TABLE_LOCAL, _STATIC, _SCOPES[family], _TYPE_LOCAL, 0)
    return body + _ATTRIBUTE.pack(_ATTRIBUTE.size, _OUTPUT_INTERFACE, _LOOPBACK)


def _ask(kernel: int, asked: Sequence[tuple[int, bytes, int]]) -> None:
    """All at once: a refusal is always answered and the last is answered anyway, so the first answer tells."""
    last = len(asked) - 1
    asking = [_REQUEST | flags for _, _, flags in asked]
    asking[last] |= _ACKNOWLEDGE
    written = b"".join(
        _MESSAGE.pack(_MESSAGE.size + len(body), kind, asking[number], number, 0) + body
        for number, (kind, body, _) in enumerate(asked)
    )
    call("sendto", kernel, written, len(written), 0, None, 0)
    answer = ctypes.create_string_buffer(_DONE_BYTES)
    # With MSG_TRUNC the answer is how long the message is, however little of it fits.
    if call("recvfrom", kernel, answer, _DONE_BYTES, socket.MSG_TRUNC, None, None) != _DONE_BYTES:
        (number,), (refused,) = (struct.unpack_from("=i", answer, at) for at in (_MESSAGE.size, _MESSAGE.size + 12))
        kind = asked[refused][0] if 0 <= refused <= last else 0
        raise OSError(-number, f"rtnetlink {kind}: {os.strerror(-number)}")
