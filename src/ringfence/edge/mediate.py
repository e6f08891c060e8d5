"""Requests of `ctx.http`: the tool says what it wants, and the edge itself makes the request.

Takes: a request as JSON and its body, over the jail's own connection to the edge.  Gives: the answer, as it arrives.
Never: follows a redirect to a host that is not listed, or keeps a connection for anyone else.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import h11

from ringfence.edge.answers import searched
from ringfence.edge.credentials import placed, require_no_value
from ringfence.edge.ends import End, SocketEnd
from ringfence.edge.gate import require_class
from ringfence.edge.inspect import verified
from ringfence.edge.ledger import Exhausted, Line
from ringfence.edge.ofcall import OfCall, dial_checked
from ringfence.edge.request import REDIRECTS, Request, read_request, redirected
from ringfence.edge.resolve import Closed
from ringfence.edge.terms import listed
from ringfence.execution.placing import Placements
from ringfence.inside import mediation

_PAUSES = (0.1, 0.3)
_MOST_BODY = 64 << 20
_CHUNK = 65_536


async def serve(client: SocketEnd, *, call: OfCall) -> None:
    """Answer one request; the connection ends with it."""
    answer = _Answer(client)
    try:
        stream = _Stream(client)
        head = mediation.read_head(await stream.piece(most=mediation.MOST_HEAD))
        with call.ledger.holding() as hold:
            request = read_request(head, body=await _body(stream, hold=hold))
            async with asyncio.timeout(request.timeout):
                await _answer(request, answer=answer, call=call)
        await client.finish()
    except (Closed, Exhausted) as refusal:
        code = refusal.code if isinstance(refusal, Closed) else "output_limit"
        call.ledger.refused(code, str(refusal))
        await answer.fault(code, str(refusal))
    except TimeoutError:
        await answer.fault("wall_limit", "the request did not end in the time that it was given")
    except (mediation.Malformed, EOFError) as bad:
        await answer.fault("protocol_error", f"the exchange is malformed: {bad}")
    except h11.RemoteProtocolError:
        # Without its words, which quote the far side's, which may quote a value.
        await answer.fault("protocol_error", "the answer is not HTTP, or its head is too long")
    except OSError as failure:
        await answer.fault("tool_error", f"the connection broke: {type(failure).__name__}")


class _Answer:
    """What the tool hears: a head and a body, or a fault; a body that breaks off is cut short, which a reader sees."""

    def __init__(self, client: SocketEnd) -> None:
        self._client = client
        self._begun = False

    async def begin(self, head: dict[str, Any]) -> None:
        self._begun = True
        await self._client.write(mediation.pack_head(head))

    async def piece(self, content: bytes) -> None:
        await self._client.write(mediation.pack_piece(content))

    async def fault(self, code: str, message: str) -> None:
        if not self._begun:
            await self.begin({"fault": {"code": code, "message": message}})
            await self._client.finish()


class _Stream:
    """Pieces of a known length from the jail."""

    def __init__(self, client: SocketEnd) -> None:
        self._client = client
        self._held = bytearray()

    async def piece(self, *, most: int) -> bytes:
        length = mediation.read_length(await self._exactly(mediation.LENGTH_BYTES), most=most)
        return await self._exactly(length)

    async def _exactly(self, count: int) -> bytes:
        while len(self._held) < count:
            content = await self._client.read()
            if not content:
                raise EOFError("it was cut short")
            self._held += content
        taken = bytes(self._held[:count])
        del self._held[:count]
        return taken


async def _body(stream: _Stream, *, hold: Callable[[int], None]) -> bytes:
    body = bytearray()
    while piece := await stream.piece(most=mediation.MOST_PIECE):
        hold(len(piece))
        body += piece
        if len(body) > _MOST_BODY:
            raise mediation.Malformed(f"a body of more than {_MOST_BODY} bytes")
    return bytes(body)


async def _answer(request: Request, *, answer: _Answer, call: OfCall) -> None:
    left = request.redirects
    while True:
        leads_to = listed(request.host, port=request.port, terms=call.terms)
        require_class(request.method, body=bool(request.body), terms=call.terms, where=str(leads_to))
        on_the_wire = placed(request, placements=call.terms.placements, leads_to=leads_to)
        line = call.ledger.line(leads_to, way="mediated")
        server = await _connect(request, line=line, call=call)
        try:
            exchange = _Exchange(server, line=line)
            response = await exchange.send(on_the_wire, key=call.terms.idempotency_key)
            onward = redirected(request, response) if left and response.status_code in REDIRECTS else None
            if onward is None:
                await _pass_on(response, exchange, url=request.url, answer=answer, placements=call.terms.placements)
                return
            require_no_value(onward, placements=call.terms.placements)
        finally:
            server.close()
        request, left = onward, left - 1


async def _connect(request: Request, *, line: Line, call: OfCall) -> End:
    plain = await _dial(line, call=call)
    line.connections += 1
    if request.scheme == "http":
        return SocketEnd(plain)
    try:
        return await verified(plain, destination=line.destination, context=call.outside.roots)
    except BaseException:
        plain.close()
        raise


async def _dial(line: Line, *, call: OfCall) -> socket.socket:
    """A connection of this request's own; until it stands no byte has left, so it is tried again."""
    for pause in _PAUSES:
        try:
            return await dial_checked(line.destination, call=call)
        except Closed as closed:
            if closed.code != "tool_error":
                raise
            await asyncio.sleep(pause)
    return await dial_checked(line.destination, call=call)


class _Exchange:
    """One request and one response on one connection."""

    def __init__(self, server: End, *, line: Line) -> None:
        self._server = server
        self._line = line
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=mediation.MOST_HEAD)

    async def send(self, request: Request, *, key: str) -> h11.Response:
        self._line.requests += 1
        lines = [(name.encode(), value.encode("latin-1")) for name, value in request.headers(key=key)]
        head = h11.Request(method=request.method, target=request.target, headers=lines)
        await self._write(self._http.send(head))
        if request.body:
            await self._write(self._http.send(h11.Data(data=request.body)))
        await self._write(self._http.send(h11.EndOfMessage()))
        while True:
            event = await self._next()
            if isinstance(event, h11.Response):
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise EOFError("the far side ended without an answer")

    async def body(self) -> AsyncIterator[bytes]:
        while isinstance(event := await self._next(), h11.Data):
            yield bytes(event.data)

    async def _next(self) -> Any:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            content = await self._server.read()
            if not content and self._http.their_state is h11.SEND_RESPONSE:
                raise ConnectionResetError("hung up before it answered")
            self._line.received(len(content))
            self._http.receive_data(content)
        return event

    async def _write(self, content: bytes | None) -> None:
        if content:
            self._line.sent(len(content))
            await self._server.write(content)


async def _pass_on(
    response: h11.Response, exchange: _Exchange, *, url: str, answer: _Answer, placements: Placements | None
) -> None:
    """The answer as the jail may have it: without a value that the far side gave back."""
    found = searched(response, exchange.body(), placements=placements)
    head = {
        "status": found.status,
        "reason": found.reason,
        "headers": [list(line) for line in found.fields],
        "url": url,
    }
    await answer.begin(head)
    async for content in found.body:
        for at in range(0, len(content), _CHUNK):
            await answer.piece(content[at : at + _CHUNK])
    await answer.piece(b"")
