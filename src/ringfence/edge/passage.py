"""One call's way out: its connections are taken up outside the jail, checked, made anew and carried.

Takes: the call's terms and the sockets of its own network.  Gives: connections to where it may go, and a ledger.
Never: serves another call, outlives its own, or dials what was not checked.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

from ringfence.edge.authority import Authority
from ringfence.edge.connection import Connection
from ringfence.edge.ends import reset
from ringfence.edge.ledger import Exhausted, Ledger
from ringfence.edge.names import Names
from ringfence.edge.outside import Outside
from ringfence.edge.resolve import Closed, Resolver
from ringfence.edge.stub import StubResolver
from ringfence.edge.terms import Terms
from ringfence.execution.edge import Ways


class CallPassage:
    """Open from before the call gets its job until after its last word."""

    def __init__(self, terms: Terms, *, ways: Ways, authority: Authority | None, outside: Outside) -> None:
        self.terms = terms
        self.authority = authority
        self.outside = outside
        self.ledger = Ledger(bounds=terms.bounds)
        self.names = Names(terms.network.hosts)
        self.resolver = Resolver(outside.lookup, private=terms.network.private)
        self._loop = asyncio.get_running_loop()
        self._listeners = [socket.socket(fileno=descriptor) for descriptor in ways.listeners]
        self._stub = StubResolver(socket.socket(fileno=ways.resolver), names=self.names, ledger=self.ledger)
        self._open: dict[asyncio.Task[None], socket.socket] = {}
        for listener in self._listeners:
            listener.setblocking(False)
            self._loop.add_reader(listener, self._accept, listener)

    def close(self) -> dict[str, Any]:
        """End everything now; what a connection still held is gone with the call."""
        for listener in self._listeners:
            self._loop.remove_reader(listener)
            listener.close()
        self._stub.close()
        self.resolver.close()
        for task in self._open:
            task.cancel()
        return self.ledger.document()

    def _accept(self, listener: socket.socket) -> None:
        """One each time the loop says that one waits: whoever made the listener could make it block again."""
        try:
            made, _ = listener.accept()
        except OSError:
            return
        made.setblocking(False)
        self._take_up(made, listener)

    def _take_up(self, made: socket.socket, listener: socket.socket) -> None:
        bounds = self.terms.bounds
        self.ledger.connections += 1
        if self.ledger.connections > bounds.connections:
            self.ledger.refused("host_not_allowed", f"more than {bounds.connections} connections in one call")
            self._loop.remove_reader(listener)
            reset(made)
        elif len(self._open) >= bounds.open_connections:
            self.ledger.refused("host_not_allowed", f"more than {bounds.open_connections} connections at once")
            reset(made)
        else:
            task = self._loop.create_task(self._serve(made))
            self._open[task] = made
            task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        made = self._open.pop(task)
        if task.cancelled():
            reset(made)
        made.close()
        if not task.cancelled() and (failure := task.exception()) is not None:
            self.ledger.refused("protocol_error", f"the edge broke off a connection: {type(failure).__name__}")

    async def _serve(self, made: socket.socket) -> None:
        try:
            with suppress(OSError):
                await Connection(made, call=self).run()
        except (Closed, Exhausted) as refusal:
            code = refusal.code if isinstance(refusal, Closed) else "host_not_allowed"
            self.ledger.refused(code, str(refusal))
            reset(made)
