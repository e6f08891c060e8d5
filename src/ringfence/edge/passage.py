"""One call's way out: its connections are taken up outside the jail, checked, made anew and carried.

Takes: the call's terms and the descriptors by which it leaves.  Gives: connections to where it may go, and a ledger.
Never: serves another call, outlives its own, or dials what was not checked.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

from ringfence.edge.arrivals import Arrivals
from ringfence.edge.authority import Authority
from ringfence.edge.connection import Connection
from ringfence.edge.connects import Connects
from ringfence.edge.ends import reset
from ringfence.edge.ledger import Exhausted, Ledger
from ringfence.edge.names import Names
from ringfence.edge.ofcall import EDGE, RESOLVER, Dialled
from ringfence.edge.outside import Outside
from ringfence.edge.resolve import Closed, Resolver
from ringfence.edge.stub import Answers, StubResolver
from ringfence.edge.terms import Terms, destination
from ringfence.execution.edge import Ways, WaysOut


class CallPassage:
    """Open from before the call gets its job until after its last word."""

    def __init__(self, terms: Terms, *, ways: WaysOut, authority: Authority | None, outside: Outside) -> None:
        self.terms = terms
        self.authority = authority
        self.outside = outside
        self.ledger = Ledger(bounds=terms.bounds)
        self.names = Names(terms.network.hosts)
        self.resolver = Resolver(outside.lookup, private=terms.network.private)
        self.answers = Answers(self.names, ledger=self.ledger)
        self._loop = asyncio.get_running_loop()
        self._open: dict[asyncio.Task[None], socket.socket] = {}
        self._stub: StubResolver | None = None
        if isinstance(ways, Ways):
            hearing = ways.hearing or self._loop
            # Of the kind that it was checked to be; not stated, Python would ask the kernel.
            plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 0, fileno=ways.resolver)
            self._stub = StubResolver(plain, hearing=hearing, answers=self.answers)
            self._arrivals: Arrivals | Connects = Arrivals(ways.listeners, hearing=hearing, take_up=self._take_up)
        else:
            self._arrivals = Connects(
                ways,
                check=self._check,
                take_up=self._take_up,
                turned_away=self._turned_away,
                ledger=self.ledger,
            )

    def close(self) -> dict[str, Any]:
        """End everything now; what a connection still held is gone with the call."""
        self._arrivals.close()
        if self._stub is not None:
            self._stub.close()
        self.resolver.close()
        for task in self._open:
            task.cancel()
        return self.ledger.document()

    def _check(self, dialled: Dialled) -> None:
        """Refuse at once what will be refused anyway."""
        if dialled not in (EDGE, RESOLVER):
            destination(dialled[0], port=dialled[1], terms=self.terms, names=self.names)

    def _turned_away(self) -> None:
        """To refuse is work too, so it is counted."""
        self.ledger.connections += 1
        self._are_too_many()

    def _are_too_many(self) -> bool:
        most = self.terms.bounds.connections
        if self.ledger.connections <= most:
            return False
        self.ledger.refused("host_not_allowed", f"more than {most} connections in one call")
        self._arrivals.stop()
        return True

    def _take_up(self, made: socket.socket, dialled: Dialled) -> None:
        bounds = self.terms.bounds
        # Questions are counted one by one, not by the connections that they come over.
        self.ledger.connections += dialled != RESOLVER
        if self._are_too_many():
            reset(made)
        elif len(self._open) >= bounds.open_connections:
            self.ledger.refused("host_not_allowed", f"more than {bounds.open_connections} connections at once")
            reset(made)
        else:
            task = self._loop.create_task(self._serve(made, dialled))
            self._open[task] = made
            task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        made = self._open.pop(task)
        if task.cancelled():
            reset(made)
        made.close()
        if not task.cancelled() and (failure := task.exception()) is not None:
            self.ledger.refused("protocol_error", f"the edge broke off a connection: {type(failure).__name__}")

    async def _serve(self, made: socket.socket, dialled: Dialled) -> None:
        try:
            with suppress(OSError):
                await Connection(made, dialled=dialled, call=self).run()
        except (Closed, Exhausted) as refusal:
            code = refusal.code if isinstance(refusal, Closed) else "host_not_allowed"
            self.ledger.refused(code, str(refusal))
            reset(made)
