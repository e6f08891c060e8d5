"""A finding says what was wrong with a text, where, and how bad it is.

Takes: nothing.  Gives: `Finding`, `Cleaned`, and the table `KINDS` of everything that can be found.
Never: looks at text itself.

The table is the single source of `docs/reference/findings.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Severity(IntEnum):
    """How much a finding should worry its reader; ordered, so that `max` works."""

    INFO = 1
    LOW = 2
    MEDIUM = 3
    HIGH = 4


@dataclass(frozen=True)
class Kind:
    """One row of the table: how bad it is, what becomes of the text, and why it is a threat."""

    severity: Severity
    becomes: str
    reason: str


_INFO, _LOW, _MEDIUM, _HIGH = Severity.INFO, Severity.LOW, Severity.MEDIUM, Severity.HIGH

KINDS: dict[str, Kind] = {
    "invalid_text": Kind(_LOW, "U+FFFD, one for each byte or surrogate", "bytes that are not UTF-8 and lone surrogates are read differently by every reader"),
    "terminal_string": Kind(_HIGH, "removed with its content", "OSC, DCS, APC, PM and SOS strings set titles, links and the clipboard, and hide what they carry"),
    "terminal_escape": Kind(_MEDIUM, "removed", "an escape sequence moves the cursor, erases or rewrites what a person has read"),
    "terminal_style": Kind(_LOW, "removed", "colours are mostly harmless, but a style can conceal text or paint it in the background colour"),
    "control_character": Kind(_MEDIUM, "removed", "a bare control character splits words for a filter, or rewrites the line for a person"),
    "odd_line_break": Kind(_LOW, "a line feed", "a lone CR, VT, FF, NEL, LS or PS ends the line for some readers only, so that two readers see different lines"),
    "bidi_control": Kind(_HIGH, "removed", "embeddings, overrides and isolates show text in another order than it is read"),
    "bidi_mark": Kind(_LOW, "removed where no right-to-left text, digit or punctuation needs it", "a mark inside a left-to-right word does nothing but carry a hidden bit or split the word"),
    "tag_character": Kind(_HIGH, "removed, except in the three emoji flags", "tag characters spell invisible ASCII that a model can read"),
    "variation_selector": Kind(_HIGH, "removed where its base has no such variant", "256 invisible selectors carry a byte each"),
    "zero_width": Kind(_MEDIUM, "removed where script or emoji does not need it", "characters without width split words for a filter and carry hidden bits"),
    "role_token": Kind(_HIGH, "`[role: name]`", "chat-template tokens and turn labels make a model believe that somebody else is speaking"),
    "markdown_fetch": Kind(_MEDIUM, "shown as text, target and all", "an image is fetched when it is shown and a link when it is touched; both carry data out in the address"),
    "markdown_hidden": Kind(_HIGH, "`[hidden comment: N characters]`, or shown as text", "comments and reference definitions are read by a model and shown to no person"),
    "html": Kind(_MEDIUM, "`<` becomes `&lt;`", "elements fetch, hide and restyle; a model needs none of them"),
    "credential": Kind(_HIGH, "`[redacted: NAME]`", "whoever reads a credential can use it, and a model repeats what it reads"),
    "injection": Kind(_HIGH, "kept as it is", "text that addresses the model: it sets orders aside, gives new ones, or asks for what is not its to give"),
    "poisoning": Kind(_HIGH, "kept as it is", "a description that does more than describe: it hides, steers other tools, or sends things away"),
    "binary": Kind(_INFO, "`[TYPE: N bytes]`", "an image, a sound or an archive is no text, and what is hidden in it must not be read as such"),
    "truncated": Kind(_INFO, "`[truncated: N bytes]`", "the text was longer than its limit; N bytes were cut"),
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One thing found: `span` counts characters of the raw text, `path` points into structured output."""

    kind: str
    span: tuple[int, int]
    severity: Severity
    detail: str = ""
    path: str = ""
    count: int = 1


@dataclass(frozen=True)
class Cleaned:
    """Text that a model or a person may read, and what was found on the way."""

    text: str
    findings: tuple[Finding, ...]
