"""Which shared libraries a program or library asks its loader for, and in which folders it wants them looked for.

Takes: an open file of this machine's kind.  Gives: names and folders as the file spells them.
Never: maps or runs the file, or trusts a number in it beyond its bounds.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MAGIC = b"\x7fELF\x02\x01"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_ENTRY = struct.Struct("<qQ")
_LOADED, _DYNAMIC = 1, 2
_END, _NEEDED, _STRINGS, _STRINGS_SIZE, _RPATH, _RUNPATH = 0, 1, 5, 10, 15, 29
_MOST_SEGMENTS = 64
_MOST_ENTRIES = 4_096
_MOST_STRINGS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Wants:
    """What a file asks for: `rpath` holds for its libraries' libraries too, `runpath` for its own alone."""

    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()


def read_wants(descriptor: int) -> Wants:
    """What the dynamic section of a file says; nothing where there is none, or it makes no sense."""
    head = os.pread(descriptor, _HEADER.size, 0)
    if not head.startswith(_MAGIC) or len(head) < _HEADER.size:
        return Wants()
    _, _, _, _, _, at, _, _, _, size, count, _, _, _ = _HEADER.unpack(head)
    segments = tuple(_segments(descriptor, at=at, size=size, count=count))
    entries = tuple(_entries(descriptor, segments))
    strings = _strings(descriptor, entries, segments=segments)
    return Wants(
        needed=tuple(_texts(entries, tag=_NEEDED, strings=strings)),
        rpath=_folders(entries, tag=_RPATH, strings=strings),
        runpath=_folders(entries, tag=_RUNPATH, strings=strings),
    )


@dataclass(frozen=True, kw_only=True)
class _Piece:
    kind: int
    offset: int
    address: int
    length: int


def _segments(descriptor: int, *, at: int, size: int, count: int) -> Iterator[_Piece]:
    if size < _SEGMENT.size or at >= 1 << 62:
        return
    for number in range(min(count, _MOST_SEGMENTS)):
        row = os.pread(descriptor, _SEGMENT.size, at + number * size)
        if len(row) < _SEGMENT.size:
            return
        kind, _, offset, address, _, length, _, _ = _SEGMENT.unpack(row)
        yield _Piece(kind=kind, offset=offset, address=address, length=length)


def _entries(descriptor: int, segments: Sequence[_Piece]) -> Iterator[tuple[int, int]]:
    found = next((each for each in segments if each.kind == _DYNAMIC and each.offset < 1 << 62), None)
    if found is None:
        return
    most = min(found.length // _ENTRY.size, _MOST_ENTRIES) * _ENTRY.size
    rows = os.pread(descriptor, most, found.offset)
    for tag, value in _ENTRY.iter_unpack(rows[: len(rows) // _ENTRY.size * _ENTRY.size]):
        if tag == _END:
            return
        yield tag, value


def _strings(descriptor: int, entries: Sequence[tuple[int, int]], *, segments: Sequence[_Piece]) -> bytes:
    address = next((value for tag, value in entries if tag == _STRINGS), None)
    size = next((value for tag, value in entries if tag == _STRINGS_SIZE), 0)
    for each in segments:
        if address is not None and each.kind == _LOADED and 0 <= address - each.address < each.length:
            return os.pread(descriptor, min(size, _MOST_STRINGS), min(each.offset + address - each.address, 1 << 62))
    return b""


def _texts(entries: Sequence[tuple[int, int]], *, tag: int, strings: bytes) -> Iterator[str]:
    for found, at in entries:
        if found == tag and at < len(strings):
            yield strings[at:].partition(b"\0")[0].decode(errors="surrogateescape")


def _folders(entries: Sequence[tuple[int, int]], *, tag: int, strings: bytes) -> tuple[str, ...]:
    return tuple(folder for text in _texts(entries, tag=tag, strings=strings) for folder in text.split(":") if folder)
