"""Text that gives orders to a model is found, however it is spelled.

Takes: what a tool returned, or what describes a tool.  Gives: findings, with the id of the row that found each.
Never: changes the text; reports more than `MOST_FINDINGS`; needs more than linear time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from ringfence.sanitise.edits import MOST_FINDINGS
from ringfence.sanitise.finding import KINDS, Finding
from ringfence.sanitise.normal import views
from ringfence.sanitise.search import Encoding, search, without_counting
from ringfence.sanitise.signature import Signature
from ringfence.sanitise.signature_rows import ROWS
from ringfence.sanitise.signature_rows_descriptions import ROWS as DESCRIPTIONS
from ringfence.sanitise.signature_rows_languages import LATIN, NATIVE

SIGNATURES: tuple[Signature, ...] = (*ROWS, *DESCRIPTIONS, *LATIN, *NATIVE)

Reader = Literal["output", "description"]
Script = Literal["plain", "native"]

_ENCODING: dict[Script, Encoding] = {"plain": "ascii", "native": "utf-8"}

# Numbers, dates and lists of them: every row needs a letter or an underscore, and no text that is shorter than this has
# another one in it.
_FIGURES = "0123456789 .,:+-[]"
_SHORTEST_ENCODED = 20
# How far behind the end of a sentence an order can go on.
_REACH = 200


def found(text: str) -> Sequence[Finding]:
    """What a description says beyond describing."""
    return _found(text, reader="description")


def found_in_output(text: str) -> Sequence[Finding]:
    """What a tool's output asks of the model that reads it."""
    return () if _says_nothing(text) else _found(text, reader="output")


def _says_nothing(text: str) -> bool:
    """Whether one look is enough to know that no row holds; False says nothing."""
    return len(text) < _SHORTEST_ENCODED and not text.strip(_FIGURES)


def _found(text: str, *, reader: Reader) -> Sequence[Finding]:
    findings: dict[tuple[str, tuple[int, int]], Finding] = {}
    for row, span in _hits(text, reader=reader):
        kind = "poisoning" if row.surface == "description" else "injection"
        findings.setdefault((row.id, span), Finding(kind, span, KINDS[kind].severity, row.id))
        if len(findings) >= MOST_FINDINGS:
            break
    return sorted(findings.values(), key=lambda finding: finding.span)


def _hits(text: str, *, reader: Reader) -> Iterator[tuple[Signature, tuple[int, int]]]:
    for view in views(text):
        for row, start, end in _matches(view.plain.encode("ascii", errors="replace"), reader=reader, script="plain"):
            yield row, view.span(start, end)
    if not text.isascii():
        raw = text.encode("utf-8", errors="replace")
        for row, first, last in _matches(raw, reader=reader, script="native"):
            start = len(raw[:first].decode("utf-8", errors="ignore"))
            yield row, (start, start + len(raw[first:last].decode("utf-8", errors="ignore")))


def _matches(seen: bytes, *, reader: Reader, script: Script) -> Iterator[tuple[Signature, int, int]]:
    """Where a row holds: one search for all rows finds the sentences, and each row looks at those again."""
    for begin, end in _sentences(seen, reader=reader, script=script):
        for row in _rows(reader, script):
            for hit in search(row.pattern, case="ignored", encoding=_ENCODING[script]).finditer(seen, begin, end):
                yield row, hit.start(), hit.end()


def _sentences(seen: bytes, *, reader: Reader, script: Script) -> list[tuple[int, int]]:
    """The parts of the text in which a row can hold, in order and apart."""
    parts: list[tuple[int, int]] = []
    anywhere = search(_any_row(reader, script), case="ignored", encoding=_ENCODING[script])
    for hit in anywhere.finditer(seen):
        begin, end = hit.start(), min(hit.end() + _REACH, len(seen))
        if parts and begin <= parts[-1][1]:
            begin = parts.pop()[0]
        parts.append((begin, end))
    return parts


@cache
def _rows(reader: Reader, script: Script) -> tuple[Signature, ...]:
    rows = NATIVE if script == "native" else (*ROWS, *DESCRIPTIONS, *LATIN)
    return tuple(row for row in rows if row.surface in ("any", reader))


@cache
def _any_row(reader: Reader, script: Script) -> str:
    return without_counting("|".join(row.pattern for row in _rows(reader, script)))
