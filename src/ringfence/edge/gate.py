"""Lets HTTP requests through one by one, each held to its destination and to the call's class.

Takes: the client's side of a connection that leads to one destination.  Gives: the requests that fit, byte for byte.
Never: lets a request pass for another host, a method that the class forbids, or bytes that are no request.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field

from ringfence.contract.safety import Egress
from ringfence.edge.credentials import Watched, require_unplaced
from ringfence.edge.ends import End
from ringfence.edge.http_head import END_OF_HEAD, MOST_HEAD, BadHead, Head, Scheme, read_head
from ringfence.edge.ledger import Line
from ringfence.edge.resolve import Closed
from ringfence.edge.terms import Terms

READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})(?:;[\x20-\x7e\t]*)?")
_MOST_LINE = 4_096


@dataclass(kw_only=True)
class Gate:
    """One connection's requests."""

    client: End
    line: Line
    terms: Terms
    scheme: Scheme
    held: bytes = b""
    watched: Watched = field(default_factory=lambda: Watched(None, where=""))

    async def run(self, server: End, *, first: Head | None = None) -> None:
        """Pass requests on until the client ends; `Closed` where one does not fit."""
        head = first or await self.next_head()
        while head is not None:
            try:
                await self._forward(head, server)
            except BadHead as bad:
                raise self._refusal(bad) from None
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
        require_unplaced(head, placements=self.terms.placements, where=str(destination))

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

    async def _forward(self, head: Head, server: End) -> None:
        self.line.requests += 1
        self.watched = Watched(self.terms.placements, where=str(self.line.destination))
        await self._pass_on(head.raw, server)
        if head.body == "chunked":
            await self._chunks(server)
        else:
            await self._exactly(head.body, server)

    async def _chunks(self, server: End) -> None:
        while True:
            line = await self._line()
            size = _CHUNK_LINE.fullmatch(line.removesuffix(b"\r\n"))
            if size is None:
                raise BadHead("a malformed chunk")
            await self._pass_on(line, server)
            if int(size[1], 16) == 0:
                break
            await self._exactly(int(size[1], 16), server)
            await self._pass_on(await self._line(only=b"\r\n"), server)
        if (line := await self._line()) != b"\r\n":
            raise BadHead("trailers after a chunked body")
        await self._pass_on(line, server)

    async def _line(self, *, only: bytes | None = None) -> bytes:
        while b"\r\n" not in self.held:
            if len(self.held) > _MOST_LINE:
                raise BadHead("a line without end")
            await self._more()
        line, _, self.held = self.held.partition(b"\r\n")
        if only is not None and line + b"\r\n" != only:
            raise BadHead("a malformed chunk")
        return line + b"\r\n"

    async def _exactly(self, count: int, server: End) -> None:
        while count:
            if not self.held:
                await self._more()
            piece, self.held = self.held[:count], self.held[count:]
            count -= len(piece)
            self.watched.check(piece)
            await self._pass_on(piece, server)

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
