"""What a jail says of the import of its tool: one frame, every byte of which tool code may have written.

Takes: pieces of it.  Gives: tools by name, each with the fingerprint of its contract, or why there are none.
Never: believes a frame of another kind or shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ringfence.contract.values import NotPlain, parse_json
from ringfence.errors import CallFailed
from ringfence.inside import wire

MOST_FINGERPRINTS = 1 << 20


def feed(reader: wire.FrameReader, piece: bytes) -> None:
    try:
        reader.feed(piece)
    except wire.Malformed as problem:
        raise CallFailed(f"the import gave no well-formed answer: {problem}", code="protocol_error") from None


def read_fingerprints(kind: wire.Kind, body: bytes) -> Mapping[str, str]:
    try:
        document = parse_json(body, size=MOST_FINGERPRINTS)
    except NotPlain as problem:
        raise CallFailed(f"the import gave no well-formed answer: {problem}", code="protocol_error") from None
    told: dict[str, Any] = {"": None}
    if isinstance(document, dict):
        told = document  # pyright: ignore[reportUnknownVariableType]
    if kind not in (wire.Kind.FAULT, wire.Kind.IMPORTED) or not all(isinstance(text, str) for text in told.values()):
        raise CallFailed("the import gave no well-formed answer", code="protocol_error")
    if kind is wire.Kind.FAULT:
        raise CallFailed(f"the tool's module cannot be imported: {told.get('message')}", code="tool_error")
    return told
