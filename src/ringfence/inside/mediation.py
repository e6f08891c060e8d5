"""Requests that a tool hands to the edge instead of making them: pieces of a known length, heads in JSON.

Takes: values of plain JSON, and bodies.  Gives: pieces for a stream, and the values back.
Never: allocates for a length that it has not checked.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

_LENGTH = struct.Struct("!I")
LENGTH_BYTES = _LENGTH.size
MOST_HEAD = 262_144
MOST_PIECE = 262_144
END = _LENGTH.pack(0)
# Where the edge listens in every jail that has a way out: an address of the range for benchmarks, routed nowhere, and a
# port at which most jails listen anyway.
EDGE_ADDRESS = "198.18.0.1"
EDGE_PORT = 443


class Malformed(Exception):
    """The other side does not keep to the form."""


def pack_head(head: Mapping[str, Any]) -> bytes:
    content = json.dumps(head).encode()
    if len(content) > MOST_HEAD:
        raise Malformed(f"the head of a request has {len(content)} bytes, more than {MOST_HEAD}")
    return _LENGTH.pack(len(content)) + content


def pack_body(content: bytes) -> bytes:
    """A body in pieces, and its end."""
    pieces = [content[at : at + MOST_PIECE] for at in range(0, len(content), MOST_PIECE)]
    return b"".join(_LENGTH.pack(len(piece)) + piece for piece in pieces) + END


def pack_piece(content: bytes) -> bytes:
    return _LENGTH.pack(len(content)) + content


def read_length(raw: bytes, *, most: int) -> int:
    (length,) = _LENGTH.unpack(raw)
    if length > most:
        raise Malformed(f"a piece of {length} bytes, more than {most}")
    return int(length)


def read_head(raw: bytes) -> dict[str, Any]:
    try:
        head = json.loads(raw)
    except (ValueError, RecursionError):
        raise Malformed("a head that is not JSON") from None
    if not isinstance(head, dict):
        raise Malformed("a head that is no mapping")
    return head  # pyright: ignore[reportUnknownVariableType]
