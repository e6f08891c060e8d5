"""Everything a stranger wrote becomes text that a model or a person may read.

Takes: text, bytes or JSON, and a limit in bytes.  Gives: the clean text or JSON, and the findings.
Never: fails on any text; changes text that holds no threat.

`PASSES` is the order of the work; a further pass is one line there. What a pass about meaning leaves is looked at once
more, since a marker can bring together what stood apart; so cleaning twice is cleaning once.
"""

from __future__ import annotations

import re

from ringfence.errors import Misuse
from ringfence.sanitise import credentials, decoding, invisible, markdown, roles, signatures, terminal
from ringfence.sanitise.decoding import decoded
from ringfence.sanitise.edits import Pass, Trace, through
from ringfence.sanitise.finding import KINDS, Cleaned, Finding
from ringfence.sanitise.media import sniffed
from ringfence.sanitise.truncate import Cut, marked, shortened, truncated

DEFAULT_LIMIT = 65_536

CHARACTERS: tuple[Pass, ...] = (
    decoding.repair,
    terminal.escapes,
    terminal.breaks,
    invisible.hidden,
)
MEANING: tuple[Pass, ...] = (
    roles.tokens,
    markdown.constructs,
    credentials.redacted,
)
PASSES: tuple[Pass, ...] = CHARACTERS + MEANING

_MEANT = frozenset({"role_token", "markdown_fetch", "markdown_hidden", "html", "credential"})
_SUSPECT = re.compile(f"[{terminal.CONTROLS}{invisible.HIDDEN}{decoding.SURROGATES}]")
_SUSPECT_ASCII = bytes(code for code in range(0x80) if _SUSPECT.match(chr(code)) and chr(code) != "\r")

# Small enough to stay in the processor's cache.
_PIECE = 1 << 16
# Bytes of the widest character in UTF-8.
_WIDEST = 4
# More are not known to be needed; a text that needs more is no less clean for it.
_MOST_ROUNDS = 6
# Short words of plain letters, spaces between them: too short for a credential, and every token, link and assignment
# needs a sign that is not among these.
_PROSE = 400
_WORDS = re.compile(r"(?:[\w,./+;'!?-]{0,15} )*[\w,./+;'!?-]{0,15}", re.ASCII)


def clean_output(value: str | bytes, *, limit: int = DEFAULT_LIMIT) -> Cleaned:
    """The text with every threat removed, cut at `limit` bytes."""
    if limit < 0:
        raise Misuse(f"a limit of `{limit}` bytes is below zero")
    if isinstance(value, bytes) and (kind := sniffed(value)):
        return Cleaned(f"[{kind}: {len(value)} bytes]", (_finding("binary", (0, len(value)), kind),))
    raw = decoded(value)
    if len(raw) <= limit and is_plain(raw):
        return Cleaned(raw, ())
    text, findings, trace = _settled(raw)
    cut = _cut(text, limit=limit)
    if cut.missing:
        findings.append(_finding("truncated", trace.span(cut.at, len(text)), f"{cut.missing} bytes"))
    return Cleaned(cut.text, tuple(findings))


def is_plain(text: str) -> bool:
    """Whether one look is enough to know that no pass finds anything; False says nothing."""
    # Two dashes begin a private key.
    return len(text) <= _PROSE and "--" not in text and _WORDS.fullmatch(text) is not None


def clean_for_model(value: str, *, limit: int = DEFAULT_LIMIT) -> Cleaned:
    """The same, and what the text asks of whoever reads it: an order to a model stays as it is, and is reported."""
    cleaned = clean_output(value, limit=limit)
    asked = signatures.found_in_output(value)
    return Cleaned(cleaned.text, (*cleaned.findings, *asked)) if asked else cleaned


def _settled(raw: str) -> tuple[str, list[Finding], Trace]:
    """The text in which no pass finds anything more."""
    quiet = _is_quiet(raw)
    text, findings, trace = through(raw, passes=MEANING if quiet else PASSES)
    fresh, rounds = findings, 1
    while any(finding.kind in _MEANT for finding in fresh) and rounds < _MOST_ROUNDS:
        text, fresh, trace = through(text, passes=MEANING if quiet else PASSES, trace=trace)
        findings, rounds = findings + fresh, rounds + 1
    return text, findings, trace


def _cut(text: str, *, limit: int) -> Cut:
    """The text within its limit; its last words are looked at again, since other words follow them now."""
    cut = truncated(text, limit=limit)
    for _ in range(_MOST_ROUNDS if cut.missing else 0):
        again = _settled(cut.text)[0]
        if again == cut.text:
            break
        kept = again.removesuffix(cut.text[cut.at :])
        cut = marked(shortened(kept, limit=limit), size=len(text.encode()))
    return cut


def _finding(kind: str, span: tuple[int, int], detail: str) -> Finding:
    return Finding(kind, span, KINDS[kind].severity, detail)


def _is_quiet(text: str) -> bool:
    """Whether no pass over characters can find anything, told in one look; most text is like this."""
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
    return tuple(_settled(text)[1])
