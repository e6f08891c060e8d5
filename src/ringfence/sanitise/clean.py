"""Everything a stranger wrote becomes text that a model or a person may read.

Takes: text, bytes or JSON, and a limit in bytes.  Gives: the clean text or JSON, and the findings.
Never: fails on any text; changes text that holds no threat.

`PASSES` is the order of the work; a further pass is one line there.
"""

from __future__ import annotations

import re

from ringfence.errors import Misuse
from ringfence.sanitise import decoding, invisible, terminal
from ringfence.sanitise.decoding import decoded
from ringfence.sanitise.edits import Pass, through
from ringfence.sanitise.finding import KINDS, Cleaned, Finding
from ringfence.sanitise.truncate import truncated

DEFAULT_LIMIT = 65_536

PASSES: tuple[Pass, ...] = (
    decoding.repair,
    terminal.escapes,
    terminal.breaks,
    invisible.hidden,
)

_SUSPECT = re.compile(f"[{terminal.CONTROLS}{invisible.HIDDEN}{decoding.SURROGATES}]")
_SUSPECT_ASCII = bytes(code for code in range(0x80) if _SUSPECT.match(chr(code)) and chr(code) != "\r")

# Small enough to stay in the processor's cache.
_PIECE = 1 << 16
# Bytes of the widest character in UTF-8.
_WIDEST = 4


def clean_output(value: str | bytes, *, limit: int = DEFAULT_LIMIT) -> Cleaned:
    """The text with every threat removed, cut at `limit` bytes."""
    if limit < 0:
        raise Misuse(f"a limit of `{limit}` bytes is below zero")
    raw = decoded(value)
    quiet = _is_quiet(raw)
    if quiet and len(raw) * _WIDEST <= limit:
        return Cleaned(raw, ())
    text, findings, trace = through(raw, passes=() if quiet else PASSES)
    cut = truncated(text, limit=limit)
    if cut.missing:
        span = trace.span(cut.at, len(text))
        findings.append(Finding("truncated", span, KINDS["truncated"].severity, f"{cut.missing} bytes"))
    return Cleaned(cut.text, tuple(findings))


def _is_quiet(text: str) -> bool:
    """Whether no pass can find anything, told in one look; most text is like this."""
    if not text.isascii():
        return _SUSPECT.search(text) is None
    if len(text) <= _PIECE and text.isprintable():
        return True
    if text.count("\r") != text.count("\r\n"):
        return False
    pieces = (text[at : at + _PIECE].encode("ascii") for at in range(0, len(text), _PIECE))
    return all(len(piece.translate(None, _SUSPECT_ASCII)) == len(piece) for piece in pieces)


def scan(text: str) -> tuple[Finding, ...]:
    """What the passes would find, without the text they would leave."""
    return () if _is_quiet(text) else tuple(through(text, passes=PASSES)[1])
