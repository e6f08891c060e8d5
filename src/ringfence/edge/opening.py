"""How a stream begins, and the rule that whatever opens TLS names the host that was dialled.

Takes: the client's first bytes, before any of them goes on.  Gives: bytes that may go on, and what the stream is.
Never: lets a TLS hello pass that names another host, hides its name, or names none where the host has one.
"""

from __future__ import annotations

import re
import struct

from ringfence.edge.ends import End
from ringfence.edge.hello import HANDSHAKE_RECORD, NotHello, is_name_of, read_hello, shown_name
from ringfence.edge.ledger import Line
from ringfence.edge.resolve import Closed
from ringfence.edge.terms import Destination

# What PostgreSQL's clients send first: may we use TLS, may we use GSSAPI encryption.
_POSTGRES_REQUESTS = (struct.pack("!II", 8, 80877103), struct.pack("!II", 8, 80877104))
_REQUEST_BYTES = 8
_STARTS_TLS = re.compile(rb"(?:[^\s]{1,64} )?STARTTLS|STLS|AUTH (?:TLS|SSL)", re.IGNORECASE)
_WATCHED = 65_536


def is_tls(first: bytes) -> bool:
    return first[:1] == bytes([HANDSHAKE_RECORD])


async def checked_hello(client: End, first: bytes, *, destination: Destination) -> bytes:
    """All bytes of the client so far, once they are a whole hello that names the right host."""
    held = first
    try:
        while (hello := read_hello(held)) is None:
            piece = await client.read()
            if not piece:
                raise NotHello("a ClientHello that was cut short")
            held += piece
    except NotHello as bad:
        raise Closed(f"a TLS connection to {destination} was refused: {bad}") from None
    if not is_name_of(hello.name, host=destination.host):
        raise Closed(f"a TLS connection to {destination} asks for {shown_name(hello.name)}")
    return held


class Opening:
    """The watched beginning of a stream that is neither HTTP nor TLS from its first byte."""

    def __init__(self, client: End, server: End, *, line: Line) -> None:
        self._client, self._server, self._line = client, server, line

    async def run(self, first: bytes) -> None:
        """Pass the beginning on; afterwards every byte may go unread."""
        held = await self._postgres(first)
        seen, tail = 0, b""
        while held and seen < _WATCHED:
            seen += len(held)
            await self._pass_on(held)
            tail = (tail + held)[-_WATCHED:]
            starts = _starts_tls(tail)
            held = await self._client.read()
            if starts and is_tls(held):
                await self._pass_on(await checked_hello(self._client, held, destination=self._line.destination))
                return
            if b"\0" in tail:
                break
        if held:
            await self._pass_on(held)

    async def _postgres(self, first: bytes) -> bytes:
        """Requests for encryption go on one by one, so that the hello after them is seen."""
        held = first
        while held[:_REQUEST_BYTES] in _POSTGRES_REQUESTS:
            await self._pass_on(held[:_REQUEST_BYTES])
            held = held[_REQUEST_BYTES:] or await self._client.read()
            if is_tls(held):
                held = await checked_hello(self._client, held, destination=self._line.destination)
        return held

    async def _pass_on(self, content: bytes) -> None:
        self._line.sent(len(content))
        await self._server.write(content)


def _starts_tls(tail: bytes) -> bool:
    """Whether the last whole line asks to go on under TLS."""
    last = tail.rstrip(b"\r\n").rpartition(b"\n")[2]
    return tail.endswith(b"\n") and _STARTS_TLS.fullmatch(last) is not None
