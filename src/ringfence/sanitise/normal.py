"""A text is read as a model would read it: look-alikes, digits for letters, letters pulled apart, one layer of encoding.

Takes: text.  Gives: `views`, each a plain text and the way back to the place in the raw text.
Never: decodes twice; makes a text longer; needs more than linear time.

A view has at most one ASCII character for each character of the text, so the way back is a list of places at most.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate

from ringfence.sanitise.invisible import HIDDEN
from ringfence.sanitise.lookalikes import spellings
from ringfence.sanitise.search import search

BESIDE: tuple[tuple[str, str, str], ...] = (
    # (plain letter, what is written for it, why the tables of Unicode do not say so)
    ("e", "εєэ", "rounder than `e`, and read as one inside a Latin word"),
    ("t", "тτ", "a small capital and a hook"),
    ("n", "пηи", "the same two stems"),
    ("m", "м", "a small capital"),
    ("k", "кκ", "a small capital"),
    ("b", "вьБ", "small capitals"),
    ("w", "шωѡ", "three stems, or two bows"),
    ("r", "гяЯ", "a stem with an arm, or mirrored"),
    ("u", "цμ", "with a tail"),
    ("h", "н", "a small capital"),
    ("a", "дλΔ", "the capital's gable"),
    ("o", "σΘθ", "round"),
    ("i", "їİıІΙӀ", "with two dots, one more, or none"),
)
_ESCAPED_SPACE = re.compile(r"\\[nrt]")
_LEET = str.maketrans("013457@$", "oieastas")
_MADE = re.compile(
    r"(?P<word>[A-Za-z0-9+/_-]{20,}={0,2})"
    r"|(?P<pairs>(?:(?:\\x|0x|%)?[0-9A-Fa-f]{2}[ ,:-]?){11,}(?:\\x|0x|%)?[0-9A-Fa-f]{2})"
    r"|(?P<apart>(?:\w[ .*_|/-]{1,2}){6,}\w(?!\w))",
    re.ASCII,
)
_BREAKS = re.compile(r"[\n\r\t]")
_SEPARATOR = re.compile(r"[ .*_|/-]", re.ASCII)
_NOT_HEX = re.compile(r"\\x|0x|[^0-9A-Fa-f]")
_ONLY_HEX = re.compile(r"(?:0x)?[0-9A-Fa-f-]+\Z")
_LEET_WORD = re.compile(r"[A-Za-z][013457@$]{1,2}[A-Za-z]")
# Longer than any gap that a row allows, so that no order is made of two words.
_BETWEEN = "\n........\n"
# What has to be read in another way, in one search: long words, pairs of digits, single letters, digits among letters.
_ODD = r"[A-Za-z0-9+/_-]{20,}={0,2}|(?:(?:\\x|0x|%)?[0-9A-Fa-f]{2}[ ,:-]?){12,}|\b(?:\w[ .*_|/-]{1,2}){6,}\w\b|[A-Za-z][013457@$]{1,2}[A-Za-z]"
# How far an order can reach before one of its words, and how much is read in one go after it.
_REACH = 160
_STRETCH = 2_000
_LETTER = re.compile(r"LATIN (?:SMALL|CAPITAL) LETTER ([A-Z])(?: WITH .*)?\Z")
# Where Unicode keeps letters that are drawn from the Latin ones, and marks that are drawn over any letter.
_LATIN = (*range(0xA0, 0x250), *range(0x1E00, 0x1F00), *range(0x2C60, 0x2C80), *range(0xA720, 0xA800))
_MARKS = (*range(0x300, 0x370), *range(0x1AB0, 0x1B00), *range(0x1DC0, 0x1E00), *range(0x20D0, 0x2100), *range(0xFE20, 0xFE30))  # fmt: skip
# Longer texts are seldom written by hand in one word; what stands in the first bytes is enough to be found.
_LONGEST_ENCODED = 16_384


class Folded:
    """The text in plain letters, and where each of them stood."""

    def __init__(self, text: str) -> None:
        self._raw = _ESCAPED_SPACE.sub("  ", text) if "\\" in text else text
        self.plain = self._raw if self._raw.isascii() else self._raw.translate(_table())

    @cached_property
    def _places(self) -> list[int]:
        table = _table()
        return [at for at, char in enumerate(self._raw) if table.get(ord(char)) != ""]

    def span(self, start: int, end: int) -> tuple[int, int]:
        if len(self.plain) == len(self._raw):
            return start, end
        return self._places[start], self._places[end - 1] + 1


@dataclass(frozen=True)
class Stretch:
    """A part of a folded text, read in another way that keeps every character in its place."""

    plain: str
    folded: Folded
    at: int

    def span(self, start: int, end: int) -> tuple[int, int]:
        return self.folded.span(start + self.at, end + self.at)


class Pieces:
    """Readings of words that are shorter than what they were made from, one after the other."""

    def __init__(self, pieces: Sequence[tuple[str, tuple[int, int]]]) -> None:
        self.plain = _BETWEEN.join(plain for plain, _ in pieces)
        self._starts = list(accumulate((len(plain) + len(_BETWEEN) for plain, _ in pieces), initial=0))
        self._spans = [span for _, span in pieces]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The whole of the words that this was made from; what lies inside cannot be pointed at."""
        first, last = (bisect_right(self._starts, at) - 1 for at in (start, end - 1))
        return self._spans[first][0], self._spans[min(last, len(self._spans) - 1)][1]


View = Folded | Stretch | Pieces


def views(text: str) -> Iterator[View]:
    """Every reading of the text, the plainest first."""
    folded = Folded(text)
    yield folded
    plain, read_to, pieces = folded.plain, 0, list[tuple[str, tuple[int, int]]]()
    for hit in search(_ODD).finditer(plain.encode("ascii", errors="replace")):
        start, end = hit.start(), hit.end()
        if (match := _MADE.match(plain, start)) and (made := _unmade(match)):
            pieces.append((made, folded.span(start, match.end())))
        if end > read_to and _LEET_WORD.search(plain, start, end):
            first, read_to = max(start - _REACH, 0), end + _STRETCH
            yield Stretch(plain[first:read_to].translate(_LEET), folded, first)
    if pieces:
        yield Pieces(pieces)


def _unmade(match: re.Match[str]) -> str:
    """What the word says: decoded, or with its letters together; nothing if it says nothing."""
    run = match[0][:_LONGEST_ENCODED]
    if match.lastgroup == "apart":
        return _SEPARATOR.sub("", run)
    if match.lastgroup == "pairs" or _ONLY_HEX.match(run):
        return _from_hex(_NOT_HEX.sub("", run))
    return "" if run.islower() else _from_base64(run)


def _from_base64(run: str) -> str:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        return _if_text(base64.b64decode(body + "=" * (-len(body) % 4)))
    except binascii.Error:
        return ""


def _from_hex(digits: str) -> str:
    return _if_text(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _if_text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return Folded(text).plain if text.isprintable() or _BREAKS.sub("", text).isprintable() else ""


@cache
def _table() -> dict[int, str]:
    """Each character that stands for a plain one, and each that stands for nothing."""
    table = {ord(char): plain for plain, chars in spellings().items() for char in chars if not char.isascii()}
    table |= {point: "i" for point, plain in table.items() if plain == "l" and chr(point).isupper()}
    for point in _LATIN:
        if letter := _LETTER.match(unicodedata.name(chr(point), "")):
            table[point] = letter[1].lower()
    table |= {ord(char): plain for plain, chars, _ in BESIDE for char in chars}
    hidden = re.compile(f"[{HIDDEN}]")
    return table | dict.fromkeys(_MARKS, "") | {point: "" for point in range(0xAD, 0x10000) if hidden.match(chr(point))}
