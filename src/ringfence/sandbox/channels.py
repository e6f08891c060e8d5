"""The host's ways to a jail that is being built: socket pairs whose messages the kernel stamps.

Takes: kinds of sockets.  Gives: two ends of each, and the moment in which something came.
Never: blocks, or leaves one behind where another could not be made.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack

from ringfence.sandbox.processes import settle

Pair = tuple[socket.socket, socket.socket]


def channel_pairs(*kinds: socket.SocketKind) -> list[Pair]:
    """For each kind ours, which never blocks, and theirs."""
    pairs: list[Pair] = []
    with ExitStack() as made:
        for kind in kinds:
            pairs.append(socket.socketpair(socket.AF_UNIX, kind))
            ours, _ = map(made.enter_context, pairs[-1])
            ours.setblocking(False)
            # Before the other end leaves: the kernel stamps only what is sent after this.
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        made.pop_all()
    return pairs


async def readable(ours: socket.socket) -> None:
    """Wait until something came, or the other end is gone."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[None] = loop.create_future()
    loop.add_reader(ours, settle, arrived)
    try:
        await arrived
    finally:
        loop.remove_reader(ours)
