"""How an order for a jail goes from one process to the next: one packet, and the descriptors that belong to it.

Takes: a socket between two of Ringfence's own processes.  Gives: the order that came.  Never: takes two packets for one
order.

A packet is two lines: what is this jail's alone, and its layout, which the jails of many agents share. A process that
has read a layout knows it, and so does every child.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ringfence.inside.layout import Layout, Order, read_layout

MOST_ORDER_BYTES = 131_072
MOST_DESCRIPTORS = 8
# The kernel carries at most 253 in one packet.
_TREES_AT_ONCE = 200
_LAYOUTS_KEPT = 64
_MORE, _LAST, _NONE_TAKEN = b"m", b"l", b"n"


@dataclass(frozen=True, kw_only=True)
class Heard:
    """An order as it came."""

    packet: bytes
    order: Order
    descriptors: list[int]


def pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def hear(orders: socket.socket) -> Heard | None:
    """Wait for an order; None where whoever gives them is gone."""
    packet, descriptors, _, _ = socket.recv_fds(orders, MOST_ORDER_BYTES, MOST_DESCRIPTORS)
    if not packet:
        return None
    return Heard(packet=packet, order=read(packet), descriptors=descriptors)


def spell(order: Order) -> bytes:
    """The packet of an order."""
    own = {"source": order.source, "module": order.module, "uid": order.uid, "gid": order.gid}
    return json.dumps(own).encode() + b"\n" + _spelled(order.layout)


def read(packet: bytes) -> Order:
    own, _, layout = packet.partition(b"\n")
    return Order(layout=_read(layout), **json.loads(own))


@lru_cache(maxsize=_LAYOUTS_KEPT)
def _spelled(layout: Layout) -> bytes:
    return json.dumps(layout.document()).encode()


@lru_cache(maxsize=_LAYOUTS_KEPT)
def _read(layout: bytes) -> Layout:
    return read_layout(json.loads(layout))


def say_ids_given(orders: socket.socket, *, granted: Sequence[int] | None) -> None:
    """The ids are written; with them go the mounts that only root could make, if root made them."""
    if granted is None:
        orders.send(_NONE_TAKEN)
        return
    for first in range(0, len(granted), _TREES_AT_ONCE):
        socket.send_fds(orders, [_MORE], granted[first : first + _TREES_AT_ONCE])
    orders.send(_LAST)


def hear_ids_given(orders: socket.socket) -> list[int] | None:
    granted: list[int] = []
    while True:
        said, trees, _, _ = socket.recv_fds(orders, 1, _TREES_AT_ONCE)
        granted += trees
        if not said:
            raise OSError("the fork server gave this jail no ids")
        if said != _MORE:
            return granted if said == _LAST else None
