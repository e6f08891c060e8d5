"""One connection: whom the program dialled, may it, and which of the three ways it goes.

Takes: a socket that was accepted outside the jail, and what the program dialled.
Gives: its bytes carried, until either side ends.
Never: forwards a byte before the destination was checked.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from functools import partial

from ringfence.edge import mediate
from ringfence.edge.both import both
from ringfence.edge.ends import End, SocketEnd, StreamEnd, pump
from ringfence.edge.gate import Gate
from ringfence.edge.http_head import START, Scheme
from ringfence.edge.inspect import impersonated, verified
from ringfence.edge.ledger import Line
from ringfence.edge.ofcall import EDGE, RESOLVER, Dialled, OfCall, dial_checked
from ringfence.edge.opening import Opening, checked_hello, is_tls
from ringfence.edge.relay import Flow, ready
from ringfence.edge.resolve import Closed
from ringfence.edge.searching import Searching
from ringfence.edge.stub import answer_stream
from ringfence.edge.terms import destination

# The kernel keeps twice that for a tool that reads slower than the far side writes. The way to it has no length, and
# what is read soon after it came is still in the processor's cache; the far side's own way is as wide as ever.
_ON_ITS_WAY_IN = 1 << 19


class FarEnd(SocketEnd):
    """The far side, while it is also read from: once it has said its last word, it hears of the end by the close."""

    def __init__(self, plain: socket.socket, *, back: Flow) -> None:
        super().__init__(plain)
        self._back = back

    async def finish(self) -> None:
        if not self._back.over.done():
            await super().finish()


class Connection:
    """Runs in a task of its own; whoever started it closes the accepted socket."""

    def __init__(self, made: socket.socket, *, dialled: Dialled, call: OfCall) -> None:
        self._made = made
        self._dialled = dialled
        self._call = call
        self._client = SocketEnd(made)

    async def run(self) -> None:
        if self._dialled == EDGE:
            await mediate.serve(self._client, call=self._call)
            return
        if self._dialled == RESOLVER:
            await answer_stream(self._client, answers=self._call.answers)
            return
        self._made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _ON_ITS_WAY_IN)
        address, port = self._dialled
        leads_to = destination(address, port=port, terms=self._call.terms, names=self._call.names)
        line = self._call.ledger.line(leads_to, way=self._call.terms.way)
        if self._call.terms.way == "opaque":
            await self._opaque(line)
        else:
            await self._inspected(line)

    async def _opaque(self, line: Line) -> None:
        """A server may speak first, so the far side is dialled before the client says anything."""
        connected = await self._connect(line)
        back = Flow(connected.socket, self._made, tally=line.received, pipes=self._call.outside.pipes)
        server = FarEnd(connected.socket, back=back)
        back.over.add_done_callback(lambda _: self._cut(server, back))
        try:
            await self._out(server, line=line)
            await back.over
        finally:
            back.close()
            server.close()
            if back.failure is not None:
                raise back.failure

    def _cut(self, server: SocketEnd, back: Flow) -> None:
        """What broke on the way back ends the way out; the client is told of no end, for this is none."""
        if back.failure is not None:
            for end, how in ((self._made, socket.SHUT_RD), (server.socket, socket.SHUT_RDWR)):
                with suppress(OSError):
                    end.shutdown(how)

    async def _out(self, server: SocketEnd, *, line: Line) -> None:
        """Towards the far side: the beginning is looked at, the rest goes on unread."""
        first = await self._client.read()
        if is_tls(first):
            held = await checked_hello(self._client, first, destination=line.destination)
            line.sent(len(held))
            await server.write(held)
        elif START.match(first):
            await self._gate(self._client, line=line, scheme="http", held=first).run(server)
            return
        elif first:
            await Opening(self._client, server, line=line).run(first)
        await pump(self._client, server, tally=line.sent, pipes=self._call.outside.pipes)

    async def _inspected(self, line: Line) -> None:
        """Every request is read before the far side hears of it; what is no HTTP cannot be held to anything."""
        await ready(self._made, "read")
        first = self._made.recv(1, socket.MSG_PEEK)
        if is_tls(first):
            await self._inspected_tls(line)
        elif first.isupper():
            await self._requests(self._client, line=line, scheme="http")
        elif first:
            raise Closed(f"a connection to {line.destination} is not HTTP", code="egress_not_enforceable")

    async def _inspected_tls(self, line: Line) -> None:
        if self._call.authority is None:
            raise Closed("this jail has no authority of its own", code="egress_not_enforceable")
        client = await impersonated(self._made, destination=line.destination, authority=self._call.authority)
        try:
            await self._requests(client, line=line, scheme="https")
        finally:
            client.close()

    async def _requests(self, client: End, *, line: Line, scheme: Scheme) -> None:
        gate = self._gate(client, line=line, scheme=scheme)
        placements = self._call.terms.placements
        if placements is not None:
            gate.placeholders = "in their slots"
            await Searching(gate, placements=placements, connect=partial(self._server, line, scheme)).run()
            return
        first = await gate.next_head()
        if first is None:
            return
        server = await self._server(line, scheme)
        try:
            await both(gate.run(server, first=first), self._back(server, client, line=line), ends="with the far side")
        finally:
            server.close()

    async def _server(self, line: Line, scheme: Scheme) -> End:
        plain = await self._connect(line)
        return await self._under_tls(plain, line=line) if scheme == "https" else plain

    async def _connect(self, line: Line) -> SocketEnd:
        plain = await dial_checked(line.destination, call=self._call)
        line.connections += 1
        return SocketEnd(plain)

    async def _under_tls(self, plain: SocketEnd, *, line: Line) -> StreamEnd:
        try:
            return await verified(plain.socket, destination=line.destination, context=self._call.outside.roots)
        except BaseException:
            plain.close()
            raise

    def _gate(self, client: End, *, line: Line, scheme: Scheme, held: bytes = b"") -> Gate:
        return Gate(client=client, line=line, terms=self._call.terms, scheme=scheme, held=held)

    async def _back(self, server: End, client: End, *, line: Line) -> None:
        await pump(server, client, tally=line.received, pipes=self._call.outside.pipes)
