"""Lets HTTP requests through one by one, each held to its destination and to the call's class.

Takes: the client's side of a connection that leads to one destination.  Gives: the requests that fit, byte for byte.
Never: lets a request pass for another host, a method that the class forbids, or bytes that are no request.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal

from ringfence.contract.safety import Egress
from ringfence.edge.credentials import Watched, placed_lines, require_unplaced
from ringfence.edge.ends import End
from ringfence.edge.http_head import END_OF_HEAD, MOST_HEAD, BadHead, Head, Scheme, read_head
from ringfence.edge.ledger import Line
from ringfence.edge.resolve import Closed
from ringfence.edge.terms import Terms

READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Without extensions: nobody needs them, and they are bytes that no reader of the body sees.
_CHUNK_LINE = re.compile(rb"[0-9A-Fa-f]{1,15}")
_MOST_LINE = 4_096


@dataclass(kw_only=True)
class Gate:
    """One connection's requests."""

    client: End
    line: Line
    terms: Terms
    scheme: Scheme
    held: bytes = b""
    placeholders: Literal["refused", "in their slots"] = "refused"

    async def run(self, server: End, *, first: Head | None = None) -> None:
        """Pass requests on until the client ends; `Closed` where one does not fit."""
        head = first or await self.next_head()
        while head is not None:
            await self._forward(head, server)
            head = await self.next_head()
        await server.finish()

    async def next_head(self) -> Head | None:
        """The next request, checked; None where the client has no more."""
        raw = await self._head()
        if raw is None:
            return None
        try:
            head = read_head(raw)
            self._check(head)
        except BadHead as bad:
            raise self._refusal(bad) from None
        return head

    def _refusal(self, bad: BadHead) -> Closed:
        return Closed(f"a request to {self.line.destination} was refused: {bad}")

    def _check(self, head: Head) -> None:
        destination = self.line.destination
        if head.host(self.scheme) != (destination.host, destination.port):
            raise Closed(f"a request on a connection to {destination} is for `{ascii(head.authority[:80])[1:-1]}`")
        if head.wants_upgrade:
            raise Closed(f"a request to {destination} asks for another protocol", code="egress_not_enforceable")
        require_class(head.method, body=head.body != 0, terms=self.terms, where=str(destination))
        placements = self.terms.placements
        if placements is not None and self.placeholders == "in their slots":
            placed_lines(head, placements=placements, leads_to=destination, scheme=self.scheme)
        else:
            require_unplaced(head, placements=placements, where=str(destination))

    async def _head(self) -> bytes | None:
        async with asyncio.timeout(self.terms.bounds.head_seconds if self.held else None):
            while (at := self.held.find(END_OF_HEAD)) < 0:
                if len(self.held) > MOST_HEAD:
                    raise Closed(f"a request to {self.line.destination} has a head without end")
                piece = await self.client.read()
                if not piece:
                    if self.held:
                        raise Closed(f"a request to {self.line.destination} was cut short")
                    return None
                self.held += piece
        end = at + len(END_OF_HEAD)
        raw, self.held = self.held[:end], self.held[end:]
        return raw

    async def body(self, head: Head) -> AsyncIterator[tuple[bytes, bytes]]:
        """The body of that request, piece by piece: as it is on the wire, and what it says."""
        try:
            async for piece in self._chunks() if head.body == "chunked" else self._exactly(head.body):
                yield piece
        except BadHead as bad:
            raise self._refusal(bad) from None

    async def _forward(self, head: Head, server: End) -> None:
        self.line.requests += 1
        watched = Watched(self.terms.placements, where=str(self.line.destination))
        await self._pass_on(head.raw, server)
        async for wire, content in self.body(head):
            watched.check(content)
            await self._pass_on(wire, server)

    async def _chunks(self) -> AsyncIterator[tuple[bytes, bytes]]:
        while True:
            line = await self._line()
            size = _CHUNK_LINE.fullmatch(line.removesuffix(b"\r\n"))
            if size is None:
                raise BadHead("a malformed chunk")
            yield line, b""
            if (count := int(size[0], 16)) == 0:
                break
            async for piece in self._exactly(count):
                yield piece
            yield await self._line(only=b"\r\n"), b""
        if (line := await self._line()) != b"\r\n":
            raise BadHead("trailers after a chunked body")
        yield line, b""

    async def _line(self, *, only: bytes | None = None) -> bytes:
        while b"\r\n" not in self.held:
            if len(self.held) > _MOST_LINE:
                raise BadHead("a line without end")
            await self._more()
        line, _, self.held = self.held.partition(b"\r\n")
        if only is not None and line + b"\r\n" != only:
            raise BadHead("a malformed chunk")
        return line + b"\r\n"

    async def _exactly(self, count: int) -> AsyncIterator[tuple[bytes, bytes]]:
        while count:
            if not self.held:
                await self._more()
            piece, self.held = self.held[:count], self.held[count:]
            count -= len(piece)
            yield piece, piece

    async def _more(self) -> None:
        piece = await self.client.read()
        if not piece:
            raise BadHead("a body that was cut short")
        self.held += piece

    async def _pass_on(self, content: bytes, server: End) -> None:
        self.line.sent(len(content))
        await server.write(content)


def require_class(method: str, *, body: bool, terms: Terms, where: str) -> None:
    """Hold one request to the call's egress class."""
    if terms.egress is Egress.WRITE:
        return
    if terms.egress is not Egress.READ_ONLY:
        raise Closed("egress `none` has no way out")
    if method not in READING_METHODS:
        raise Closed(f"`{method}` to {where}: the tool's egress is `read_only`")
    if body:
        raise Closed(f"a body with `{method}` to {where}: the tool's egress is `read_only`")
