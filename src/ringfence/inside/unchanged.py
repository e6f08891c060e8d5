"""Pages that a zygote wrote to and that are as they were laid down: it lets them go, so that no spare inherits them.

Takes: the bedrock, and how to bear a child.  Gives: the same memory, with fewer pages of the zygote's own.
Never: lets go of a page that is not byte for byte the one below it.

Python writes to every object that it looks at, and for the most part writes back what was there. An import looks
nearly everywhere, and two pages in five that it made its own differ from the bedrock in nothing by the end.

Who is compared must not take a step meanwhile: a count that is one too high at this moment would be lost with its page.
So a child looks, while its parent waits between system calls and does nothing but let go of what the child names.
"""

from __future__ import annotations

import _socket
import ctypes
import os
import re
import select
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from ringfence.inside.bedrock import Bedrock, Piece
from ringfence.inside.inherited import LET_GO, Range
from ringfence.kernel import namespaces, pagemap
from ringfence.kernel.syscalls import NUMBERS
from ringfence.kernel.unattended import PAGE, WRITE, Stage, Words

# Those with the most pages in them: a call for every single page would cost more than the page.
_MOST_RANGES = 256
_BEFORE_RANGES = 4
_MILLISECONDS_TO_LOOK = 1000
_ABSENT, _BELOW, _OWN, _CHANGED = b".boc"


def _kind(entry: int) -> int:
    if entry & pagemap.SWAPPED:  # swapped out or on its way: its own, and nobody can look at it
        return _CHANGED
    if not entry & pagemap.PRESENT:
        return _ABSENT
    return _BELOW if entry & pagemap.OF_A_FILE else _OWN


_KINDS = bytes(map(_kind, range(256)))
_STRETCH_OF_OWN, _STRETCH_WITHOUT_CHANGE = re.compile(rb"o+"), re.compile(rb"[^c]+")
_POLLED = struct.Struct("ihh")
_VECTOR = struct.Struct("QQ")
_WORD = struct.Struct("Q")
_compare = ctypes.PyDLL(None).memcmp
_compare.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What tells of one process's memory to whoever holds these: its bytes, and what its pages are."""

    memory: int
    pages: int

    @classmethod
    def of_self(cls) -> Sight:
        # A process that is hidden cannot look at itself either.
        namespaces.set_dumpable("dumpable")
        try:
            memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
            try:
                return cls(memory=memory, pages=os.open(pagemap.OWN, os.O_RDONLY | os.O_CLOEXEC))
            except OSError:
                os.close(memory)
                raise
        finally:
            namespaces.set_dumpable("hidden")

    def pages_of(self, piece: Piece) -> bytearray:
        """The kind of each page."""
        return bytearray(pagemap.flags_of(self.pages, piece.start, length=piece.length).translate(_KINDS))

    def close(self) -> None:
        os.close(self.memory)
        os.close(self.pages)


def let_go_of_unchanged(below: Bedrock, *, bear: Callable[[], int]) -> bool:
    """Have a child find what is unchanged, and let it go; all stays as it is where that cannot be done."""
    try:
        # A second thread would stand still for nobody.
        if not below.again or len(os.listdir("/proc/self/task")) > 1:
            return False
        with closing(Sight.of_self()) as sight:
            _let_go(below, sight=sight, bear=bear)
        below.forget()
    except Exception:  # nobody may see what this has to, or an import has put its own functions in the place of these
        return False
    return True


def _let_go(below: Bedrock, *, sight: Sight, bear: Callable[[], int]) -> None:
    # The bare ones: what a tool made of the module's while it was imported is for its own calls.
    ours, theirs = _socket.socketpair()
    with Stage(most=_BEFORE_RANGES + _MOST_RANGES) as stage, closing(ours), closing(theirs):
        ours.setblocking(False)
        calls, pointed_to = _calls(ours.fileno(), theirs=theirs.fileno(), stage=stage)
        if bear() == 0:
            _look(below, sight=sight, asked=theirs)
        stage.make(calls)
        theirs.detach()  # closed by the first of the calls
    del pointed_to


def _calls(ours: int, *, theirs: int, stage: Stage) -> tuple[list[Words], Sequence[object]]:
    """Say that nothing changes any more, hear what to let go of, let go; and what these calls point to.

    The answer is read into the calls that come after it: until then each lets go of nothing. All else that is written
    meanwhile is whether there was an answer, which nobody reads.
    """
    go = ctypes.create_string_buffer(b"\1", 1)
    polled = ctypes.create_string_buffer(_POLLED.pack(ours, select.POLLIN, 0), _POLLED.size)
    first = _BEFORE_RANGES
    places = [
        place
        for number in range(first, first + _MOST_RANGES)
        for place in (stage.argument_at(number, 0), stage.argument_at(number, 1))
    ]
    vectors = ctypes.create_string_buffer(b"".join(_VECTOR.pack(place, _WORD.size) for place in places))
    return [
        Words(NUMBERS["close"], (theirs,)),
        Words(NUMBERS["write"], (ours, ctypes.addressof(go), 1)),
        # A child that does not answer is not waited for long, and one that ended is heard of at once.
        Words(NUMBERS["poll"], (ctypes.addressof(polled), 1, _MILLISECONDS_TO_LOOK)),
        Words(NUMBERS["readv"], (ours, ctypes.addressof(vectors), len(places))),
        *(Words(NUMBERS["madvise"], (0, 0, LET_GO)) for _ in range(_MOST_RANGES)),
    ], (go, polled, vectors)


def _look(below: Bedrock, *, sight: Sight, asked: _socket.socket) -> None:
    """The child's whole life: compare its own copies, then, when its parent stands still, those alike once more."""
    try:
        pieces = [piece for piece in below.pieces if piece.rights & WRITE]
        guesses = [_guessed(sight.pages_of(piece), piece=piece, again=below.again) for piece in pieces]
        asked.recv(1)
        found: list[tuple[int, Range]] = []
        for piece, guessed in zip(pieces, guesses, strict=True):
            found += ranges_without_change(
                _seen(guessed, piece=piece, again=below.again, sight=sight), start=piece.start
            )
        found.sort(reverse=True)
        asked.sendall(b"".join(_VECTOR.pack(*found_range) for _, found_range in found[:_MOST_RANGES]))
    finally:
        os._exit(0)


def _guessed(pages: bytearray, *, piece: Piece, again: int) -> bytearray:
    """Which of the parent's own pages are changed in this process's copies of them."""
    here, there = piece.start, again + piece.offset
    for number in _numbers(_OWN, pages):
        if _compare(here + number * PAGE, there + number * PAGE, PAGE):
            pages[number] = _CHANGED
    return pages


def _seen(guessed: bytearray, *, piece: Piece, again: int, sight: Sight) -> bytearray:
    """Which of the parent's pages are changed: those that were, and those that are not what is below by now."""
    pages = sight.pages_of(piece)
    for number in _numbers(_OWN, pages):
        if guessed[number] != _OWN:
            pages[number] = _CHANGED
    for stretch in _STRETCH_OF_OWN.finditer(bytes(pages)):
        at, length = stretch.start() * PAGE, len(stretch[0]) * PAGE
        if os.pread(sight.memory, length, piece.start + at) != ctypes.string_at(again + piece.offset + at, length):
            pages[slice(*stretch.span())] = bytes([_CHANGED]) * len(stretch[0])
    return pages


def ranges_without_change(pages: bytearray, *, start: int) -> Iterator[tuple[int, Range]]:
    """Ranges without a changed page, each after how many of its pages are there at all."""
    for stretch in _STRETCH_WITHOUT_CHANGE.finditer(bytes(pages)):
        behind = stretch[0].lstrip(b".")
        there = behind.rstrip(b".")
        if there:
            yield len(there) - there.count(b"."), (start + (stretch.end() - len(behind)) * PAGE, len(there) * PAGE)


def _numbers(kind: int, pages: bytearray) -> list[int]:
    return [number for number, each in enumerate(pages) if each == kind]
