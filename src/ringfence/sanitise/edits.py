"""A pass says what it would change as edits; this room applies them and remembers where they came from.

Takes: a text and edits in order, none overlapping.  Gives: the new text, and findings whose spans count in the raw text.
Never: decides what to change.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ringfence.sanitise.finding import KINDS, Finding

MOST_FINDINGS = 100


class Edit(NamedTuple):
    """Replace `text[start:end]`, which is not empty, because it is of this kind."""

    start: int
    end: int
    kind: str
    replacement: str = ""
    detail: str = ""


Pass = Callable[[str], Sequence[Edit]]


class Piece(NamedTuple):
    """From `start` on, the text was `raw` and following; a replacement stands for all of `raw` to `raw_end`."""

    start: int
    raw: int
    raw_end: int | None


@dataclass(frozen=True)
class Trace:
    """Where each character of the present text stood in the raw text."""

    pieces: tuple[Piece, ...] = (Piece(0, 0, None),)

    def span(self, start: int, end: int) -> tuple[int, int]:
        first, last = self._piece(start), self._piece(end - 1)
        low = first.raw if first.raw_end is not None else first.raw + start - first.start
        high = last.raw_end if last.raw_end is not None else last.raw + end - last.start
        return low, high

    def after(self, edits: Sequence[Edit]) -> Trace:
        """The trace of the text that these edits leave."""
        return Trace(tuple(self._remaining(edits)))

    def _piece(self, position: int) -> Piece:
        return self.pieces[bisect_right(self.pieces, position, key=lambda piece: piece.start) - 1]

    def _remaining(self, edits: Sequence[Edit]) -> Iterator[Piece]:
        at, kept_from, index = 0, 0, 0
        for edit in edits:
            index = yield from self._shifted(index, start=kept_from, end=edit.start, at=at)
            at += edit.start - kept_from
            if edit.replacement:
                yield Piece(at, *self.span(edit.start, edit.end))
                at += len(edit.replacement)
            kept_from = edit.end
        yield from self._shifted(index, start=kept_from, end=None, at=at)

    def _shifted(self, index: int, *, start: int, end: int | None, at: int) -> Generator[Piece, None, int]:
        """The pieces of `[start, end)`, moved to `at`; returns the index to go on from, which keeps the walk linear."""
        pieces = self.pieces
        while index + 1 < len(pieces) and pieces[index + 1].start <= start:
            index += 1
        while index < len(pieces) and (end is None or max(pieces[index].start, start) < end):
            piece = pieces[index]
            skipped = max(start - piece.start, 0)
            moved = piece.raw if piece.raw_end is not None else piece.raw + skipped
            yield Piece(at + piece.start + skipped - start, moved, piece.raw_end)
            index += 1
        return max(index - 1, 0)


def applied(text: str, edits: Sequence[Edit]) -> str:
    parts: list[str] = []
    kept_from = 0
    for start, end, _, replacement, _ in edits:
        parts += (text[kept_from:start], replacement)
        kept_from = end
    return "".join((*parts, text[kept_from:]))


def through(text: str, *, passes: Sequence[Pass]) -> tuple[str, list[Finding], Trace]:
    """The text after every pass in turn, what each of them found, and where the text came from."""
    trace, findings = Trace(), list[Finding]()
    for each in passes:
        edits = each(text)
        if edits:
            findings += found(edits, trace=trace)
            text, trace = applied(text, edits), trace.after(edits)
    return text, findings, trace


def found(edits: Sequence[Edit], *, trace: Trace) -> Iterator[Finding]:
    """A finding for each edit; past `MOST_FINDINGS` of a kind, one finding that spans and counts the rest."""
    seen: dict[str, int] = {}
    rest: dict[str, tuple[int, int]] = {}
    for edit in edits:
        kind = edit.kind
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= MOST_FINDINGS:
            yield Finding(kind, trace.span(edit.start, edit.end), KINDS[kind].severity, edit.detail)
        else:
            rest[kind] = (rest.get(kind, edit)[0], edit.end)
    for kind, (start, end) in rest.items():
        count = seen[kind] - MOST_FINDINGS
        yield Finding(kind, trace.span(start, end), KINDS[kind].severity, f"{count} more", count=count)
