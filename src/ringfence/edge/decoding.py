"""Takes the compression off an answer, so that it can be searched: never more at a time than fits in a hand.

Takes: the coding that an answer names, then its bytes as they come.  Gives: the plain bytes, in small pieces.
Never: lets a few bytes become more than a bound, or passes on what it cannot read.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from ringfence.edge.resolve import Closed

# An answer that was asked for plain and comes compressed is a rare thing; one that grows beyond this is an attack.
MOST_DECODED = 64 << 20
_PIECE = 65_536
_GZIP, _ZLIB, _BARE = 31, 15, -15
_DEFLATES, _CHECK = 8, 31
_CODINGS = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}


def coding_of(fields: Iterable[tuple[bytes, bytes]]) -> str | None:
    """How the answer's body is compressed; None where it is plain, `Closed` where that cannot be undone."""
    named = b",".join(value for name, value in fields if name == b"content-encoding").decode("latin-1").lower()
    codings = [coding for part in named.split(",") if (coding := part.strip()) not in ("", "identity")]
    if not codings:
        return None
    found = _CODINGS.get(codings[0]) if len(codings) == 1 else None
    if found is None:
        shown = ascii(", ".join(codings)[:40])[1:-1]
        raise _unsearchable(f"it is compressed with `{shown}`, and none was asked for")
    return found


async def decoded(pieces: AsyncIterator[bytes], *, coding: str | None) -> AsyncIterator[bytes]:
    """The body as it was before it was compressed."""
    if coding is None:
        async for piece in pieces:
            yield piece
        return
    reader = _Reader(coding)
    async for piece in pieces:
        for plain in reader.feed(piece):
            yield plain
    reader.end()


class _Reader:
    """One compressed body."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._begun = b""
        self._stream: Any = None
        self._given = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        left = self._begun + piece
        if self._stream is None and len(left) < 2:
            self._begun = left
            return
        self._begun = b""
        while left:
            if self._stream is None or (self._stream.eof and self._coding == "gzip"):
                self._stream = zlib.decompressobj(self._window(left))
            elif self._stream.eof:
                raise _unsearchable("something follows its compressed body")
            plain, left = self._step(left)
            if plain:
                yield plain

    def end(self) -> None:
        if self._begun or (self._stream is not None and not self._stream.eof):
            raise _unsearchable("its compressed body is cut short")

    def _step(self, left: bytes) -> tuple[bytes, bytes]:
        try:
            plain = self._stream.decompress(left, _PIECE)
        except zlib.error:
            raise _unsearchable("its compressed body cannot be read") from None
        self._given += len(plain)
        if self._given > MOST_DECODED:
            raise _unsearchable(f"it decompresses to more than {MOST_DECODED} bytes")
        return plain, self._stream.unconsumed_tail or self._stream.unused_data

    def _window(self, begins: bytes) -> int:
        """`deflate` is written in two ways, and the first two bytes tell them apart."""
        if self._coding == "gzip":
            return _GZIP
        wrapped = begins[0] & 0x0F == _DEFLATES and int.from_bytes(begins[:2]) % _CHECK == 0
        return _ZLIB if wrapped else _BARE


def _unsearchable(why: str) -> Closed:
    return Closed(f"the answer cannot be searched for what it echoes: {why}", code="answer_not_searchable")
