"""The tool's own client in a call with secrets: one request, one answer, in turn, both read to the end.

Takes: requests that a gate has checked.  Gives: each to the far side with its values in place, and its answer searched.
Never: lets a byte of a request go on before its beginning was searched, or a byte of an answer before it was.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import h11

from ringfence.edge.answers import Answer, searched
from ringfence.edge.both import both
from ringfence.edge.credentials import Watched, placed_lines
from ringfence.edge.ends import End
from ringfence.edge.gate import Gate
from ringfence.edge.http_head import Head
from ringfence.edge.resolve import Closed
from ringfence.execution.placing import Placements

# A body up to this length is searched as a whole before its request is made; of a longer one, as much.
MOST_HELD = 1 << 20
MOST_ANSWER_HEAD = 262_144
_MOST_MEASURED = 65_536
_BODILESS = frozenset({204, 304})
# Of one connection, not of the request: the edge has two of those, and writes its own.
_OF_THE_CONNECTION = frozenset({"connection", "keep-alive", "proxy-connection", "expect"})
_FRAMES_THE_ANSWER = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "trailer", "upgrade"}
)


class Searching:
    """One connection of a tool's own client, and the connections to the far side that it comes to."""

    def __init__(self, gate: Gate, *, placements: Placements, connect: Callable[[], Awaitable[End]]) -> None:
        self._gate = gate
        self._placements = placements
        self._connect = connect
        self._far: _FarSide | None = None

    async def run(self) -> None:
        """Until the client ends; `Closed` where a request or an answer does not fit."""
        try:
            while (head := await self._gate.next_head()) is not None:
                if await self._exchange(head) == "over":
                    break
            await self._gate.client.end()
        # Without their words, which quote what was sent and what came back.
        except (h11.RemoteProtocolError, EOFError):
            raise Closed(f"no answer of {self._gate.line.destination} that is HTTP", code="tool_error") from None
        except h11.LocalProtocolError:
            raise Closed(f"a request to {self._gate.line.destination} cannot be written") from None
        finally:
            if self._far is not None:
                self._far.end.close()

    async def _exchange(self, head: Head) -> str:
        body = _Body(self._gate, head, placements=self._placements)
        await body.search_ahead()
        far = await self._far_side()
        lines = placed_lines(
            head, placements=self._placements, leads_to=self._gate.line.destination, scheme=self._gate.scheme
        )
        await both(far.ask(head, lines, body.rest()), self._answer(head, far), ends="with the far side")
        if not far.can_go_on():
            far.end.close()
            self._far = None
        return "over" if head.ends_connection or not body.is_read else "kept"

    async def _far_side(self) -> _FarSide:
        if self._far is not None and self._far.end.has_ended():
            self._far.end.close()
            self._far = None
        if self._far is None:
            self._far = _FarSide(await self._connect(), gate=self._gate)
        return self._far

    async def _answer(self, head: Head, far: _FarSide) -> None:
        response = await far.response()
        answer = searched(response, far.pieces(), placements=self._placements)
        kept = [line for line in answer.fields if line[0].lower() not in _FRAMES_THE_ANSWER]
        if head.method == "HEAD" or answer.status in _BODILESS:
            told = (
                [("content-length", str(answer.length))] if head.method == "HEAD" and answer.length is not None else []
            )
            await self._begin(answer, [*kept, *told], head=head)
            async for _ in answer.body:
                pass
        elif answer.length is not None and answer.length <= _MOST_MEASURED:
            whole = b"".join([piece async for piece in answer.body])
            await self._begin(answer, [*kept, ("content-length", str(len(whole)))], head=head)
            await self._gate.client.write(whole)
        else:
            await self._stream(answer, kept, head=head)

    async def _stream(self, answer: Answer, kept: list[tuple[str, str]], *, head: Head) -> None:
        """A body of which nobody knows how long it will be once it was searched."""
        framed = [("transfer-encoding", "chunked")] if head.version == "1.1" else []
        await self._begin(answer, [*kept, *framed], head=head)
        async for piece in answer.body:
            if piece:
                await self._gate.client.write(b"%x\r\n%s\r\n" % (len(piece), piece) if framed else piece)
        if framed:
            await self._gate.client.write(b"0\r\n\r\n")

    async def _begin(self, answer: Answer, lines: list[tuple[str, str]], *, head: Head) -> None:
        ends = [("connection", "close")] if head.ends_connection else []
        text = "".join(f"{name}: {value}\r\n" for name, value in [*lines, *ends])
        await self._gate.client.write(f"HTTP/1.1 {answer.status} {answer.reason}\r\n{text}\r\n".encode("latin-1"))


class _Body:
    """The body of one request; `rest` gives all of it that was not given yet."""

    def __init__(self, gate: Gate, head: Head, *, placements: Placements) -> None:
        self._gate, self._head = gate, head
        self._pieces = gate.body(head)
        self._watched = Watched(placements, where=str(gate.line.destination))
        self._held = list[bytes]()
        self.is_read = False

    async def search_ahead(self) -> None:
        """Read and search the body, or as much of it as is held before its request is made."""
        if self._head.body != 0 and b"100-continue" in b",".join(self._head.values(b"expect")).lower():
            await self._gate.client.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        held = 0
        while held < MOST_HELD and not self.is_read:
            piece = await self._next()
            self._held.append(piece)
            held += len(piece)

    async def rest(self) -> AsyncIterator[bytes]:
        while self._held:
            yield self._held.pop(0)
        while not self.is_read:
            yield await self._next()

    async def _next(self) -> bytes:
        try:
            _, content = await anext(self._pieces)
        except StopAsyncIteration:
            self.is_read = True
            return self._watched.end()
        return self._watched.feed(content)


class _FarSide:
    """One connection to the far side; every request on it is answered before the next."""

    def __init__(self, end: End, *, gate: Gate) -> None:
        self.end = end
        self._line = gate.line
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_ANSWER_HEAD)

    async def ask(self, head: Head, lines: list[tuple[str, str]], body: AsyncIterator[bytes]) -> None:
        self._line.requests += 1
        sent = [line for line in lines if line[0].lower() not in _OF_THE_CONNECTION]
        wire = [(name.encode(), value.encode("latin-1")) for name, value in [*sent, ("Accept-Encoding", "identity")]]
        whole = h11.Request(method=head.method, target=head.target, headers=wire)
        await self._write(self._http.send(whole))
        async for piece in body:
            if piece:
                await self._write(self._http.send(h11.Data(data=piece)))
        await self._write(self._http.send(h11.EndOfMessage()))

    async def response(self) -> h11.Response:
        while isinstance(event := await self._next(), h11.InformationalResponse):
            pass
        if not isinstance(event, h11.Response):
            raise EOFError("it ended the connection")
        return event

    async def pieces(self) -> AsyncIterator[bytes]:
        while isinstance(event := await self._next(), h11.Data):
            yield bytes(event.data)

    def can_go_on(self) -> bool:
        """Whether another request can follow on this connection."""
        if (self._http.our_state, self._http.their_state) != (h11.DONE, h11.DONE) or self._http.trailing_data[0]:
            return False
        self._http.start_next_cycle()
        return True

    async def _next(self) -> Any:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            content = await self.end.read()
            self._line.received(len(content))
            self._http.receive_data(content)
        return event

    async def _write(self, content: bytes | None) -> None:
        if content:
            self._line.sent(len(content))
            await self.end.write(content)
