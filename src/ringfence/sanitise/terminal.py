"""No sequence that a terminal obeys is left in the text: only characters, tabs and line feeds.

Takes: text.  Gives: edits that remove ECMA-48 sequences, 7-bit and 8-bit, whole or cut short, and settle line breaks.
Never: keeps a colour; changes CR LF.

A string that is never ended loses its line and no more: a terminal would swallow the rest of the text,
but a tool that was cut off in the middle of a title must not lose all that follows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ringfence.sanitise.edits import Edit

# Controls that a terminal carries out in the middle of a sequence without leaving it.
_EXECUTED = r"\x00-\x08\x0b\x0c\x0e-\x17\x19\x1c-\x1f\x7f"
# CAN, SUB, ESC and every C1 end whatever string was open. This also keeps the search linear: no string contains the start of another.
_ENDS = r"\x18\x1a\x1b\x80-\x9f"
_ESC = rf"\x1b[{_EXECUTED}]*+"


def _string(introducer: str, *, but: str, terminator: str) -> str:
    whole = rf"[^{but}{_ENDS}]*+(?:{terminator}|(?=[{_ENDS}]))"
    cut_short = rf"[^\r\n{but}{_ENDS}]*+"
    return rf"{introducer}(?:{whole}|{cut_short})"


_GRAMMAR: tuple[tuple[str, str, str], ...] = (
    # (detail, what it looks like, why it stands in this place)
    ("osc", _string(rf"(?:{_ESC}\]|\x9d)", but=r"\x07", terminator=r"\x07|\x1b\\|\x9c"), "BEL ends it too: xterm began that, all follow"),
    ("string", _string(rf"(?:{_ESC}[PX^_]|[\x90\x98\x9e\x9f])", but="", terminator=r"\x1b\\|\x9c"), "DCS, SOS, PM, APC: only ST ends them"),
    ("csi", rf"(?:{_ESC}\[|\x9b)[{_EXECUTED} -?]*+[@-~]?", "before bare C1, or the parameters of an 8-bit CSI would stay"),
    ("escape", rf"{_ESC}[{_EXECUTED} -/]*+[0-~]?", "ESC I…I F, and a lone ESC"),
    ("control", r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\x80-\x84\x86-\x8f\x91-\x97\x99\x9a\x9c]++", "what stands alone; NEL, VT and FF are line breaks"),
)  # fmt: skip

_KIND = {"osc": "terminal_string", "string": "terminal_string", "csi": "terminal_escape", "escape": "terminal_escape", "control": "control_character"}  # fmt: skip
_SEQUENCE = re.compile("|".join(f"(?P<{detail}>{pattern})" for detail, pattern, _ in _GRAMMAR))
_STYLE = re.compile(r"(?:\x1b\[|\x9b)[0-9:;]*m")
# Both begin with a plain class, by which the engine skips harmless text many times faster than by the grammar.
_START = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_ODD = "[\r\x0b\x0c\x85\u2028\u2029](?!(?<=\r)\n)"
_BREAKS = re.compile(f"{_ODD}(?:{_ODD})*+")

CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"


def escapes(text: str) -> Sequence[Edit]:
    """Every terminal sequence and bare control character, removed."""
    edits: list[Edit] = []
    at = 0
    while (begin := _START.search(text, at)) and (match := _SEQUENCE.match(text, begin.start())):
        at = match.end()
        detail = match.lastgroup or ""
        kind = "terminal_style" if detail == "csi" and _STYLE.fullmatch(match[0]) else _KIND[detail]
        edits.append(Edit(match.start(), at, kind, "", detail))
    return edits


def breaks(text: str) -> Sequence[Edit]:
    """Every line break that only some readers see, made one that all see; runs after `escapes`."""
    return [Edit(*match.span(), "odd_line_break", "\n" * len(match[0])) for match in _BREAKS.finditer(text)]
