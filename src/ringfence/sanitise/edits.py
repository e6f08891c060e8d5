"""A pass says what it would change as edits; this room applies them and remembers where they came from.

Takes: a text and edits in order, none overlapping.  Gives: the new text, and findings whose spans count in the raw text.
Never: decides what to change.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
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


@dataclass(frozen=True)
class Trace:
    """Where each character of the present text stood in the raw text, through every round of edits so far."""

    rounds: tuple[tuple[Sequence[Edit], list[int]], ...] = ()

    def after(self, edits: Sequence[Edit]) -> Trace:
        """The trace of the text that these edits leave."""
        return Trace((*self.rounds, (edits, _places(edits))))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span in the raw text; what replaced something stands for all of it."""
        for edits, places in reversed(self.rounds):
            start, end = _before(edits, places, at=start)[0], _before(edits, places, at=end - 1)[1]
        return start, end


NOT_YET_CHANGED = Trace()


def _places(edits: Sequence[Edit]) -> list[int]:
    """Where each edit stands in the text that the edits leave."""
    places: list[int] = []
    shift = 0
    for start, end, _, replacement, _ in edits:
        places.append(start + shift)
        shift += len(replacement) - (end - start)
    return places


def _before(edits: Sequence[Edit], places: list[int], *, at: int) -> tuple[int, int]:
    """What the character at `at` was before the edits."""
    index = bisect_right(places, at) - 1
    if index < 0:
        return at, at + 1
    edit, within = edits[index], at - places[index]
    if within < len(edit.replacement):
        return edit.start, edit.end
    old = edit.end + within - len(edit.replacement)
    return old, old + 1


def applied(text: str, edits: Sequence[Edit]) -> str:
    parts: list[str] = []
    kept_from = 0
    for start, end, _, replacement, _ in edits:
        parts += (text[kept_from:start], replacement)
        kept_from = end
    return "".join((*parts, text[kept_from:]))


def through(text: str, *, passes: Sequence[Pass], trace: Trace = NOT_YET_CHANGED) -> tuple[str, list[Finding], Trace]:
    """The text after every pass in turn, what each of them found, and where the text came from."""
    findings: list[Finding] = []
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
