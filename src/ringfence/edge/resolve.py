"""A name becomes addresses once in a call; all of them are checked, and only those are ever dialled.

Takes: a normalised host and a port.  Gives: pinned addresses, or `Closed` with the reason.
Never: asks twice for one name in one call, or dials one good address of a name that also has a closed one.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from ringfence.contract.hosts import HostPattern
from ringfence.edge.floor import METADATA_NAMES, closed, read_address

Lookup: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]

_MOST_ADDRESSES = 16


class Closed(Exception):
    """Where the tool wanted to go stays closed: a code, and the reason in words."""

    def __init__(self, reason: str, *, code: str = "host_not_allowed") -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


async def system_lookup(name: str) -> Sequence[str]:
    """The addresses of a name, as this machine's resolver gives them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Resolver:
    """The names of one call, each resolved once."""

    def __init__(self, lookup: Lookup, *, private: Sequence[HostPattern]) -> None:
        self._lookup = lookup
        self._private = tuple(private)
        self._known: dict[str, asyncio.Task[Sequence[str]]] = {}

    async def addresses(self, host: str, *, port: int) -> Sequence[str]:
        """The addresses to dial for a host, every one of which passed the floor."""
        found = [host] if read_address(host) is not None else await self._resolved(host)
        for address in found:
            reason = closed(address, port=port, private=self._private)
            if reason is not None:
                raise Closed(f"`{host}` is at {address}, and that is closed: {reason}")
        return [str(read_address(address)) for address in found]

    async def _resolved(self, name: str) -> Sequence[str]:
        if name in METADATA_NAMES:
            raise Closed(f"`{name}` is closed: {METADATA_NAMES[name]}")
        task = self._known.get(name)
        if task is None:
            task = self._known[name] = asyncio.ensure_future(self._look_up(name))
        return task.result() if task.done() else await asyncio.shield(task)

    async def _look_up(self, name: str) -> Sequence[str]:
        try:
            found = await self._lookup(name)
        except (OSError, UnicodeError) as failure:
            raise Closed(f"`{name}` does not resolve: {type(failure).__name__}", code="tool_error") from None
        if not found or len(found) > _MOST_ADDRESSES:
            raise Closed(f"`{name}` has {len(found)} addresses", code="tool_error")
        return found

    def close(self) -> None:
        for task in self._known.values():
            task.cancel()
