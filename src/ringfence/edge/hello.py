"""Reads from the first bytes of a TLS connection whom the client wants to talk to.

Takes: bytes as a client sends them.  Gives: the name in the ClientHello, or that more bytes are needed.
Never: goes on with a hello that hides a name, names two, or is no hello.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ringfence.contract.hosts import normalise_host
from ringfence.edge.floor import read_address
from ringfence.errors import CallRefused

HANDSHAKE_RECORD = 0x16
_CLIENT_HELLO = 1
_RECORD_HEADER, _MESSAGE_HEADER = 5, 4
_MOST_HELLO = 65_536
_SERVER_NAME, _ENCRYPTED_HELLO, _OLD_ENCRYPTED_NAME = 0, 0xFE0D, 0xFFCE
_HOST_NAME = 0


class NotHello(Exception):
    """The bytes are not a ClientHello that the edge lets through."""


@dataclass(frozen=True, kw_only=True)
class Hello:
    """What a client said before anything is encrypted."""

    name: str | None


def read_hello(stream: bytes) -> Hello | None:
    """The hello at the start of a stream; None while it is not all there."""
    message = _message(stream)
    if message is None:
        return None
    try:
        return _parse(message)
    except (IndexError, struct.error, UnicodeDecodeError):
        raise NotHello("a malformed ClientHello") from None


def is_name_of(name: str | None, *, host: str) -> bool:
    """Whether a hello names exactly this host; an address has no name, and its hello says none."""
    if name is None:
        return read_address(host) is not None
    try:
        return normalise_host(name) == host
    except CallRefused:
        return False


def shown_name(name: str | None) -> str:
    return "no name" if name is None else f"`{ascii(name[:80])[1:-1]}`"


def _message(stream: bytes) -> bytes | None:
    """The first handshake message, put together from as many records as it was cut into."""
    joined, at = bytearray(), 0
    while len(stream) >= at + _RECORD_HEADER:
        kind, _, length = struct.unpack_from("!BHH", stream, at)
        if kind != HANDSHAKE_RECORD or not 0 < length <= _MOST_HELLO:
            raise NotHello("not a TLS handshake")
        joined += stream[at + _RECORD_HEADER : at + _RECORD_HEADER + length]
        at += _RECORD_HEADER + length
        if len(joined) >= _MESSAGE_HEADER:
            size = int.from_bytes(joined[1:_MESSAGE_HEADER])
            if joined[0] != _CLIENT_HELLO or size > _MOST_HELLO:
                raise NotHello("not a ClientHello")
            if len(joined) >= _MESSAGE_HEADER + size:
                return bytes(joined[_MESSAGE_HEADER : _MESSAGE_HEADER + size])
    if len(stream) > _MOST_HELLO:
        raise NotHello("a ClientHello without end")
    return None


def _parse(message: bytes) -> Hello:
    at = 2 + 32
    at += 1 + message[at]
    at += 2 + struct.unpack_from("!H", message, at)[0]
    at += 1 + message[at]
    if at == len(message):
        return Hello(name=None)
    (length,) = struct.unpack_from("!H", message, at)
    extensions = _extensions(message[at + 2 : at + 2 + length])
    if _ENCRYPTED_HELLO in extensions or _OLD_ENCRYPTED_NAME in extensions:
        raise NotHello("an encrypted ClientHello hides the name")
    named = extensions.get(_SERVER_NAME)
    return Hello(name=None if named is None else _server_name(named))


def _extensions(raw: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while at < len(raw):
        kind, length = struct.unpack_from("!HH", raw, at)
        if kind in found or at + 4 + length > len(raw):
            raise NotHello("an extension twice, or cut short")
        found[kind] = raw[at + 4 : at + 4 + length]
        at += 4 + length
    return found


def _server_name(raw: bytes) -> str:
    whole, kind, length = struct.unpack_from("!HBH", raw)
    if kind != _HOST_NAME or whole != len(raw) - 2 or length != whole - 3:
        raise NotHello("not exactly one server name")
    return raw[5:].decode("ascii")
