"""A mail server that takes letters over TLS alone, as RFC 5321 and RFC 3207 have it, and keeps what it took."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from tests.integration.edge.world import Far, Serve

_READY, _BYE, _OK, _GO_ON = b"220 mail.example.com\r\n", b"221 bye\r\n", b"250 ok\r\n", b"354 end with a dot\r\n"
_TLS_FIRST, _UNKNOWN = b"530 must issue STARTTLS first\r\n", b"500 unknown\r\n"
_EXTENSIONS = {"plain": b"250-mail.example.com\r\n250 STARTTLS\r\n", "tls": b"250 mail.example.com\r\n"}


def post_office(tls: ssl.SSLContext) -> Callable[[Far], Serve]:
    """Letters end up in `requests`, everything that was said in `heard`."""

    def of(far: Far) -> Serve:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            state = "plain"
            writer.write(_READY)
            while line := await reader.readline():
                far.heard += line
                word = line.split(None, 1)[0].strip().upper()
                if word == b"STARTTLS":
                    writer.write(_READY)
                    await writer.start_tls(tls)
                    state = "tls"
                    continue
                writer.write(_answer(word, state=state))
                if word == b"DATA" and state == "tls":
                    far.requests.append((await reader.readuntil(b"\r\n.\r\n")).decode())
                    writer.write(_OK)
                await writer.drain()
                if word == b"QUIT":
                    return

        return serve

    return of


def _answer(word: bytes, *, state: str) -> bytes:
    if word in (b"EHLO", b"HELO"):
        return _EXTENSIONS[state]
    if word == b"QUIT":
        return _BYE
    if state != "tls":
        return _TLS_FIRST
    if word == b"DATA":
        return _GO_ON
    return _OK if word in (b"MAIL", b"RCPT", b"NOOP", b"RSET") else _UNKNOWN
