"""What a reader cannot see is removed, unless the script or the emoji around it needs it.

Takes: text.  Gives: edits that remove BiDi controls, tag characters, stray variation selectors and characters without width.
Never: removes anything that can be seen; looks further than the seen characters on both sides of an invisible run.

INVARIANT: whether a character stays depends on the seen neighbours and on what stays before it in its run.
Removing what does not stay changes neither, so a second pass finds nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from ringfence.sanitise import scripts
from ringfence.sanitise.edits import Edit

_CLASSES: dict[str, str] = {
    "bidi_control": "\u202a-\u202e\u2066-\u2069",
    "bidi_mark": "\u200e\u200f\u061c",
    "tag_character": "\U000e0000-\U000e007f",
    "variation_selector": "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef",
    "zero_width": "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff\U000e01f0-\U000e0fff",
}

HIDDEN = "".join(_CLASSES.values())
_RUN = re.compile(f"[{HIDDEN}]+")
_KIND = re.compile("|".join(f"(?P<{kind}>[{chars}]+)" for kind, chars in _CLASSES.items()))

# No honest run is longer; a longer one is dropped whole, which also bounds the work for each run.
_LONGEST_RUN = 12

# The flags of England, Scotland and Wales: the only tag sequences that are shown as a flag anywhere.
_FLAG = "\U0001f3f4"
_FLAG_TAGS = tuple(
    "".join(chr(0xE0000 + ord(c)) for c in region) + "\U000e007f" for region in ("gbeng", "gbsct", "gbwls")
)

_ZWSP, _ZWNJ, _ZWJ, _WJ, _CGJ = "\u200b", "\u200c", "\u200d", "\u2060", "\u034f"
_KEYCAP = "\u20e3"

Removed = tuple[tuple[int, int, str], ...]


def hidden(text: str) -> Sequence[Edit]:
    """Every invisible character that nothing around it needs, removed."""
    edits: list[Edit] = []
    for match in _RUN.finditer(text):
        start, end = match.span()
        removed = _removed if end - start <= _LONGEST_RUN else _all_of
        for first, last, kind in removed(text[start - 1 : start], match[0], text[end : end + 1]):
            edits.append(Edit(start + first, start + last, kind))
    return edits


def _all_of(_left: str, run: str, _right: str) -> Removed:
    return tuple((match.start(), match.end(), match.lastgroup or "") for match in _KIND.finditer(run))


@lru_cache(maxsize=2048)
def _removed(left: str, run: str, right: str) -> Removed:
    """The parts of a run that go, given the seen characters beside it (empty at the edges of the text)."""
    kept = _flag_tags(left, run)
    gone: list[str] = [" "] * len(kept)
    for char in run[len(kept) :]:
        stays = _stays(char, left=left, kept=kept, right=right)
        kept += char if stays else ""
        gone.append(" " if stays else char)
    return _all_of(left, "".join(gone), right)


def _flag_tags(left: str, run: str) -> str:
    return next((tags for tags in _FLAG_TAGS if left == _FLAG and run.startswith(tags)), "")


def _stays(char: str, *, left: str, kept: str, right: str) -> bool:
    if char in "\u200e\u200f\u061c":
        return sum(kept.count(mark) for mark in "\u200e\u200f\u061c") < 2 and _directs(left, right)
    if char in (_ZWNJ, _ZWJ):
        return _joins(char, left=left, kept=kept, right=right)
    if char in (_ZWSP, _WJ):
        return kept.count(char) < 2 and (left in scripts.unspaced or right in scripts.unspaced)
    if char == _CGJ:
        return char not in kept and bool(left and right) and unicodedata.combining(right) != 0
    if char == "\u115f":
        return not kept and right in scripts.vowels_of_hangul
    if char == "\u1160":
        return not kept and left in scripts.leading_consonants
    if not kept and _varies(char, left=left, right=right):
        return True
    return char not in kept and _belongs(char, left=left, right=right)


def _joins(char: str, *, left: str, kept: str, right: str) -> bool:
    before = kept.count(_ZWNJ) + kept.count(_ZWJ)
    if char == _ZWJ and right in scripts.pictographs:
        return before == 0 and (left in scripts.pictographs or left in scripts.skin_tones)
    # Real Kannada and Malayalam text has doubled joiners; more than two are never typed.
    return before < 2 and (left in scripts.joined or right in scripts.joined)


def _varies(char: str, *, left: str, right: str) -> bool:
    if char == "\ufe0f" and right == _KEYCAP:
        return left != "" and left in "0123456789#*"
    return any(char in selectors and left in bases for selectors, bases in scripts.variants)


def _belongs(char: str, *, left: str, right: str) -> bool:
    return any(char in chars and (left in blocks or right in blocks) for chars, blocks in scripts.neighbours)


def _directs(left: str, right: str) -> bool:
    """Whether a direction mark has work to do: at an edge, by right-to-left text, or by a digit or punctuation."""
    return any(side in ("", "\n") or _turns(side) for side in (left, right))


def _turns(side: str) -> bool:
    return unicodedata.bidirectional(side) in ("R", "AL", "AN") or not (side.isalpha() or side.isspace())
