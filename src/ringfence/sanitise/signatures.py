"""Text that gives orders to a model is found, however it is spelled.

Takes: what a tool returned, or what describes a tool.  Gives: findings, with the id of the row that found each.
Never: changes the text; reports more than `MOST_FINDINGS`; needs more than linear time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Literal

from ringfence.sanitise.edits import MOST_FINDINGS
from ringfence.sanitise.finding import KINDS, Finding
from ringfence.sanitise.normal import views
from ringfence.sanitise.signature import Signature
from ringfence.sanitise.signature_rows import ROWS
from ringfence.sanitise.signature_rows_descriptions import ROWS as DESCRIPTIONS
from ringfence.sanitise.signature_rows_languages import LATIN, NATIVE

SIGNATURES: tuple[Signature, ...] = (*ROWS, *DESCRIPTIONS, *LATIN, *NATIVE)

_MEMORY = 128 << 20

Reader = Literal["output", "description"]


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
        for hit in _scanner(reader, "plain").finditer(view.plain.encode("ascii", errors="replace")):
            yield _row(view.plain, *hit.span(), reader=reader, script="plain"), view.span(*hit.span())
    if not text.isascii():
        raw = text.encode("utf-8", errors="replace")
        for hit in _scanner(reader, "native").finditer(raw):
            start = len(raw[: hit.start()].decode("utf-8"))
            end = start + len(hit[0].decode("utf-8"))
            yield _row(text, start, end, reader=reader, script="native"), (start, end)


def _row(text: str, start: int, end: int, *, reader: Reader, script: str) -> Signature:
    """The first row that holds where the search has found one."""
    seen = text[max(start - 1, 0) : end + 1].encode("utf-8", errors="replace")
    return next((row for row, pattern in _patterns(reader, script) if pattern.search(seen)), _rows(reader, script)[0])


@cache
def _rows(reader: str, script: str) -> tuple[Signature, ...]:
    rows = NATIVE if script == "native" else (*ROWS, *DESCRIPTIONS, *LATIN)
    return tuple(row for row in rows if row.surface in ("any", reader))


@cache
def _scanner(reader: str, script: str) -> Any:
    """All rows as one search; made at the first text, since loading RE2 would be felt at every start."""
    return _compiled("|".join(row.pattern for row in _rows(reader, script)))


@cache
def _patterns(reader: str, script: str) -> tuple[tuple[Signature, Any], ...]:
    return tuple((row, _compiled(row.pattern)) for row in _rows(reader, script))


def _compiled(pattern: str) -> Any:
    import re2  # noqa: PLC0415

    options = re2.Options()
    options.max_mem = _MEMORY
    options.never_capture = True
    options.case_sensitive = False
    return re2.compile(pattern.encode(), options)
