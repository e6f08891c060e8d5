"""Messages between the host and a jail: a version, a kind, a length, then that many bytes.

Takes: bytes as they arrive.  Gives: whole frames, or `Malformed`.  Never: allocates for a length it has not checked,
or reads on after the first fault.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable
from enum import IntEnum

_HEADER = struct.Struct("!2sBBI")
_MAGIC = b"RF"
VERSION = 1
HEADER_BYTES = _HEADER.size
# Where every call finds its own channel.
CHANNEL = 3
_CHUNK = 262_144
# As many as Python has ready-made memory for. What is longer is asked of the C library, given back in part, and not
# whole when it is asked for again: each time other pages are written to.
AT_ONCE = 512 - sys.getsizeof(b"")
# Bound once: a name that is found by way of its module is a page more in every process that serves.
_read, _write = os.read, os.write


class Kind(IntEnum):
    """What a frame says."""

    READY = 1  # a spare is confined and waits; no body
    JOB = 2  # what to do, as JSON
    ARGUMENTS = 3  # the arguments of a call, as JSON
    OUTPUT = 4  # the tool's output, as JSON
    RESULT = 5  # output and a wording for the model: {"output": "<JSON text>", "for_model": "…"}
    FAULT = 6  # why there is no output: {"code": …, "message": …, "trace": …}
    IMPORTED = 7  # the tools that an import found: {"name": "fingerprint"}
    QUESTION = 8  # what a call with rows of its own asks before it replies, as JSON
    ANSWER = 9  # what its host says to that, as JSON
    END = 10  # after a reply: nothing more will be said; no body


_KINDS = {kind.value: kind for kind in Kind}
_REPLIES = frozenset({Kind.OUTPUT, Kind.RESULT, Kind.FAULT, Kind.IMPORTED})


class Malformed(Exception):
    """The bytes are not a frame of this version, or one too large."""


def pack(kind: Kind, body: bytes = b"") -> bytes:
    return _HEADER.pack(_MAGIC, VERSION, kind, len(body)) + body


# What a reply ends with. A tool that writes a frame of its own and then returns has not said the end of the first.
LAST = pack(Kind.END)


def _parse_header(header: bytes | bytearray, *, most: int) -> tuple[Kind, int]:
    magic, version, kind, length = _HEADER.unpack_from(header)
    if magic != _MAGIC or version != VERSION:
        raise Malformed("not a frame of this version")
    if length > most:
        raise Malformed(f"a frame announces {length} bytes, more than {most}")
    known = _KINDS.get(kind)
    if known is None:
        raise Malformed(f"there is no frame of kind {kind}")
    return known, length


class FrameReader:
    """Puts one frame together from pieces; anything after it is a fault."""

    _closing = b""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._buffer = bytearray()
        self._expected: tuple[Kind, int] | None = None

    def feed(self, piece: bytes) -> None:
        """Take some bytes; raises as soon as they cannot become exactly one frame."""
        self._buffer += piece
        if self._expected is None and len(self._buffer) >= HEADER_BYTES:
            self._expected = _parse_header(self._buffer, most=self._most)
        if self._expected is not None and not self._closing.startswith(self._after(self._expected[1])):
            raise Malformed("bytes follow the frame")

    def _after(self, length: int) -> bytearray:
        return self._buffer[HEADER_BYTES + length :]

    @property
    def started(self) -> bool:
        return bool(self._buffer)

    def frame(self) -> tuple[Kind, bytes] | None:
        """The frame, if all of it is here."""
        if self._expected is None or len(self._buffer) < HEADER_BYTES + self._expected[1]:
            return None
        kind, length = self._expected
        return kind, bytes(memoryview(self._buffer)[HEADER_BYTES : HEADER_BYTES + length])


class ReplyReader(FrameReader):
    """Puts together one frame and the end that is said after it; a frame that lacks one is still a frame."""

    _closing = LAST

    def feed(self, piece: bytes) -> None:
        """Take some bytes; raises as soon as they cannot become a reply."""
        super().feed(piece)
        if self._expected is not None and self._expected[0] not in _REPLIES:
            raise Malformed(f"a reply is never a frame of kind {self._expected[0].name}")

    @property
    def ended(self) -> bool:
        """Whether all was said."""
        return self._expected is not None and bytes(self._after(self._expected[1])) == LAST


class AskingReader(ReplyReader):
    """Puts together the frames of a call that may ask: any number of questions, each handed on, then one frame."""

    def __init__(self, *, most: int, most_asked: int, hear: Callable[[bytes], None]) -> None:
        super().__init__(most=most)
        self._most_asked = most_asked
        self._hear = hear
        self._asking = bytearray()

    def feed(self, piece: bytes) -> None:
        """Take some bytes; a question that is whole is handed on at once."""
        if self.started:
            super().feed(piece)
            return
        self._asking += piece
        while len(self._asking) >= HEADER_BYTES:
            if _kind_of(self._asking) != Kind.QUESTION:
                rest, self._asking = bytes(self._asking), bytearray()
                super().feed(rest)
                return
            _, length = _parse_header(self._asking, most=self._most_asked)
            if len(self._asking) < HEADER_BYTES + length:
                return
            question = bytes(memoryview(self._asking)[HEADER_BYTES : HEADER_BYTES + length])
            del self._asking[: HEADER_BYTES + length]
            self._hear(question)


def _kind_of(header: bytes | bytearray) -> int:
    return int(_HEADER.unpack_from(header)[2])


def receive(descriptor: int, *, most: int) -> tuple[Kind, bytes]:
    """The next frame, blocking; EOFError where the other end is gone."""
    kind, length = _parse_header(_exactly(descriptor, HEADER_BYTES), most=most)
    return kind, _exactly(descriptor, length)


def receive_two(descriptor: int, *, most: tuple[int, int]) -> tuple[tuple[Kind, bytes], tuple[Kind, bytes]]:
    """The next two frames, blocking, from whoever sends nothing more; almost always they come in one piece."""
    first, rest = _cut(descriptor, _read(descriptor, AT_ONCE), most=most[0])
    second, rest = _cut(descriptor, rest, most=most[1])
    if rest:
        raise Malformed("bytes follow the frames")
    return first, second


def _cut(descriptor: int, here: bytes, *, most: int) -> tuple[tuple[Kind, bytes], bytes]:
    """A frame that begins with the bytes that are here, and what is here after it."""
    if len(here) < HEADER_BYTES:
        here += _exactly(descriptor, HEADER_BYTES - len(here))
    kind, length = _parse_header(here, most=most)
    end = HEADER_BYTES + length
    if len(here) < end:
        here += _exactly(descriptor, end - len(here))
    return (kind, here[HEADER_BYTES:end]), here[end:]


def send(descriptor: int, frame: bytes) -> None:
    """All of the bytes, blocking; almost always there is room for them at once."""
    written = _write(descriptor, frame)
    while written < len(frame):
        written += _write(descriptor, memoryview(frame)[written:])


def _exactly(descriptor: int, length: int) -> bytes:
    piece = _read(descriptor, min(length, _CHUNK)) if length else b""
    if len(piece) == length:
        return piece
    received = bytearray(piece)
    while len(received) < length:
        piece = _read(descriptor, min(length - len(received), _CHUNK))
        if not piece:
            raise EOFError("the other end is gone")
        received += piece
    return bytes(received)
