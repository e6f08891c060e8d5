"""Text longer than its limit is cut on a character border and says how many bytes are missing.

Takes: clean text and a limit in UTF-8 bytes.  Gives: the text, or its first part with `[truncated: N bytes]`.
Never: cuts a text twice; leaves half of a joined sequence.

The marker stands outside the limit: `limit` bytes of text are kept, so N is what a reader expects, and a small limit works.
A text that ends in a marker and fits without it was cut before, and stays.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from ringfence.sanitise import scripts
from ringfence.sanitise.invisible import HIDDEN

_MARKER = re.compile(r"\[truncated: [1-9][0-9]{0,18} bytes\]\Z")
_LONGEST_MARKER = len("[truncated: 1234567890123456789 bytes]")
_DANGLING = re.compile(rf"[\r{HIDDEN}]+\Z")
# Marks can be stacked without end on one letter; past this many the cut falls among them.
_FURTHEST_BACK = 32


class Cut(NamedTuple):
    """What is left of a text, where it was cut, and how many bytes are missing."""

    text: str
    at: int
    missing: int


def truncated(text: str, *, limit: int) -> Cut:
    """The text within its limit."""
    if len(text) * 4 <= limit or (size := _size(text)) <= limit or _was_cut(text, size=size, limit=limit):
        return Cut(text, len(text), 0)
    return marked(shortened(text, limit=limit), size=size)


def shortened(text: str, *, limit: int) -> str:
    """As much of the text as fits, in whole characters."""
    return text if len(text) * 4 <= limit or _size(text) <= limit else _whole(text, end=_fitting(text, limit=limit))


def marked(kept: str, *, size: int) -> Cut:
    """What is kept of a text of this size, with its marker."""
    missing = size - _size(kept)
    return Cut(f"{kept}[truncated: {missing} bytes]", len(kept), missing)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _was_cut(text: str, *, size: int, limit: int) -> bool:
    marker = _MARKER.search(text, max(len(text) - _LONGEST_MARKER, 0))
    return marker is not None and size - len(marker[0]) <= limit


def _fitting(text: str, *, limit: int) -> int:
    """How many characters fit; a character needs at least a byte, so no more than `limit` of them matter."""
    return len(text[:limit].encode()[:limit].decode(errors="ignore"))


def _whole(text: str, *, end: int) -> str:
    """The text up to `end`, without a piece of a sequence that goes on after it."""
    for back in range(end, max(end - _FURTHEST_BACK, 0), -1):
        if not _continues(text[back]) and text[back - 1] != "\u200d":
            end = back
            break
    return _DANGLING.sub("", text[:end])


def _continues(char: str) -> bool:
    return unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf") or char in scripts.skin_tones
