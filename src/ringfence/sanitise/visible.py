r"""What a person is asked to judge is shown as it is: what cannot be seen appears as `\u{202e}`.

Takes: any text, in one line or many.  Gives: text in which every unseen character is spelled out.
Never: loses a character; escapes a joiner that script or emoji needs.

Two different texts never look the same here: a backslash that would begin such a spelling is itself spelled out.
"""

from __future__ import annotations

import re
from typing import Literal

from ringfence.sanitise import scripts
from ringfence.sanitise.edits import Edit, applied
from ringfence.sanitise.invisible import HIDDEN, hidden

_HIDDEN = re.compile(f"[{HIDDEN}]")
_MARKS = "\u200e\u200f\u061c"
_IDEOGRAPHIC_SPACE = "\u3000"


def visible(text: str, *, lines: Literal["one", "many"] = "one") -> str:
    """The text with everything unprintable spelled out; `many` lets line feeds and tabs stand."""
    if text.isascii() and text.isprintable() and "\\u{" not in text:
        return text
    allowed = "\n\t" if lines == "many" else ""
    unneeded = {at for edit in hidden(text) for at in range(edit.start, edit.end)}
    spelled_out = [
        at
        for at, char in enumerate(text)
        if char not in allowed and (not _is_shown(char, needed=at not in unneeded) or text.startswith("\\u{", at))
    ]
    return applied(text, [Edit(at, at + 1, "", _spelled(text[at])) for at in spelled_out]) if spelled_out else text


def _is_shown(char: str, *, needed: bool) -> bool:
    if _HIDDEN.match(char):
        return needed and char not in _MARKS
    return char.isprintable() or char in scripts.pictographs or char == _IDEOGRAPHIC_SPACE


def _spelled(char: str) -> str:
    return f"\\u{{{ord(char):x}}}"
