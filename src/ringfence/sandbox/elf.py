"""What the head of a program file says: who loads it, or who reads it as a script.

Takes: the first bytes of a file.  Gives: the loader or the interpreter it names, and whether it is a program at all.
Never: runs or maps the file, or trusts a number in it beyond the bytes at hand.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

HEAD_BYTES = 4_096
_MAGIC = b"\x7fELF\x02\x01"
_EXECUTABLE = 2
_INTERPRETER_SEGMENT = 3
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_MOST_SEGMENTS = 64


@dataclass(frozen=True, kw_only=True)
class Head:
    """`loader` is the path of an ELF program's loader; `script` the words of a script's first line."""

    program: bool
    loader: str | None = None
    script: tuple[str, ...] = ()


def read_head(head: bytes) -> Head:
    """What kind of program begins with these bytes."""
    if head.startswith(b"#!"):
        line = head[2:].split(b"\n", 1)[0].decode(errors="surrogateescape")
        return Head(program=True, script=tuple(line.split(None, 1)))
    if not head.startswith(_MAGIC) or len(head) < _HEADER.size:
        return Head(program=False)
    _, kind, _, _, _, segments_at, _, _, _, size, count, _, _, _ = _HEADER.unpack_from(head)
    loader = _loader(head, at=segments_at, size=size, count=count)
    return Head(program=kind == _EXECUTABLE or loader is not None, loader=loader)


def _loader(head: bytes, *, at: int, size: int, count: int) -> str | None:
    for number in range(min(count, _MOST_SEGMENTS)):
        start = at + number * size
        if size < _SEGMENT.size or start + _SEGMENT.size > len(head):
            return None
        kind, _, offset, _, _, length, _, _ = _SEGMENT.unpack_from(head, start)
        if kind == _INTERPRETER_SEGMENT and offset + length <= len(head):
            return head[offset : offset + length].rstrip(b"\0").decode(errors="surrogateescape")
    return None
