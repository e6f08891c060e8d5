"""Text that gives orders to a model is found, however it is spelled.

Takes: what a tool returned, or what describes a tool.  Gives: findings, with the id of the row that found each.
Never: changes the text; reports more than `MOST_FINDINGS`; needs more than linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from ringfence.sanitise.edits import MOST_FINDINGS
from ringfence.sanitise.finding import KINDS, Finding
from ringfence.sanitise.normal import views
from ringfence.sanitise.search import Search, search
from ringfence.sanitise.signature import Signature
from ringfence.sanitise.signature_rows import ROWS
from ringfence.sanitise.signature_rows_descriptions import ROWS as DESCRIPTIONS
from ringfence.sanitise.signature_rows_languages import LATIN, NATIVE

SIGNATURES: tuple[Signature, ...] = (*ROWS, *DESCRIPTIONS, *LATIN, *NATIVE)

Reader = Literal["output", "description"]
Script = Literal["plain", "native"]

_COUNTED = re.compile(r"\{([0-9]+),[0-9]*\}\??")
# How far behind the end of a sentence an order can go on.
_REACH = 200


def found(text: str) -> Sequence[Finding]:
    """What a description says beyond describing."""
    return _found(text, reader="description")


def found_in_output(text: str) -> Sequence[Finding]:
    """What a tool's output asks of the model that reads it."""
    return _found(text, reader="output")


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
    """Where a row holds: a search without counting finds the sentence, one that counts looks at it again."""
    for sentence in _search(reader, script, "loose").finditer(seen):
        for hit in _search(reader, script, "exact").finditer(seen, sentence.start(), sentence.end() + _REACH):
            yield _row(seen, hit.start(), hit.end(), reader=reader, script=script), hit.start(), hit.end()


def _row(seen: bytes, start: int, end: int, *, reader: Reader, script: Script) -> Signature:
    """The first row that holds where the search has found one."""
    rows = _rows(reader, script)
    return next((row for row in rows if search(row.pattern, case="ignored").match(seen, start, end)), rows[0])


@cache
def _rows(reader: Reader, script: Script) -> tuple[Signature, ...]:
    rows = NATIVE if script == "native" else (*ROWS, *DESCRIPTIONS, *LATIN)
    return tuple(row for row in rows if row.surface in ("any", reader))


@cache
def _search(reader: Reader, script: Script, how: Literal["loose", "exact"]) -> Search:
    """All rows as one search; without counted repetition its automaton stays small, whatever the text."""
    exact = "|".join(row.pattern for row in _rows(reader, script))
    loose = _COUNTED.sub(lambda counted: "*" if counted[1] == "0" else "+", exact)
    return search(loose if how == "loose" else exact, case="ignored")
