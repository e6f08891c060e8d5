"""Connects to addresses that were checked, and to nothing else.

Takes: pinned addresses and a port.  Gives: a connected socket.  Never: takes a name.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from typing import TypeAlias

from ringfence.edge.resolve import Closed

Dial: TypeAlias = Callable[[Sequence[str], int], Awaitable[socket.socket]]


async def dial(addresses: Sequence[str], port: int) -> socket.socket:
    """The first of the addresses that answers."""
    problem = "no address"
    for address in addresses:
        try:
            return await _connect(address, port)
        except OSError as failure:
            problem = failure.strerror or type(failure).__name__
    raise Closed(f"port {port} of {', '.join(addresses)} does not answer: {problem}", code="tool_error")


async def _connect(address: str, port: int) -> socket.socket:
    family = socket.AF_INET if ip_address(address).version == 4 else socket.AF_INET6
    made = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
    try:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        state = made.connect_ex((address, port))
        if state == errno.EINPROGRESS:
            # Where the other side is near, it has answered by now, and nothing has to be waited for.
            state = made.connect_ex((address, port))
        if state == errno.EALREADY:
            await asyncio.get_running_loop().sock_connect(made, (address, port))
        elif state:
            raise OSError(state, os.strerror(state))
    except BaseException:
        made.close()
        raise
    return made
