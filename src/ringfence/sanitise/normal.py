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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

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
_APART = re.compile(r"(?:\w[ .*_|/-]{1,2}){6,}\w(?!\w)", re.ASCII)
_SEPARATOR = re.compile(r"[ .*_|/-]", re.ASCII)
_WORD = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}", re.ASCII)
_SPLIT_HEX = re.compile(r"(?:(?:\\x|0x|%)?[0-9A-Fa-f]{2}[ ,:-]?){11,}(?:\\x|0x|%)?[0-9A-Fa-f]{2}", re.ASCII)
_NOT_HEX = re.compile(r"\\x|0x|[^0-9A-Fa-f]")
_ONLY_WORD = re.compile(r"[G-WYZg-wyz+/_]")
_LEET_WORD = re.compile(r"[A-Za-z][013457@$]{1,2}[A-Za-z]")
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


@dataclass(frozen=True)
class View:
    """One reading: `plain` is what is searched; it stood in `raw`, from `at` on, or all of it within `whole`."""

    plain: str
    raw: str = ""
    at: int = 0
    whole: tuple[int, int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        if self.whole:
            return self.whole
        start, end = start + self.at, end + self.at
        return (_places(self.raw)[start], _places(self.raw)[end - 1] + 1) if self.raw else (start, end)


def views(text: str) -> Iterator[View]:
    """Every reading of the text, the plainest first."""
    folded = _folded(text)
    yield folded
    plain, leet_to = folded.plain, 0
    for hit in search(_ODD).finditer(plain.encode("ascii", errors="replace")):
        start, end = hit.start(), hit.end()
        if (match := _WORD.match(plain, start)) or (match := _SPLIT_HEX.match(plain, start)):
            yield from _decoded(match[0][:_LONGEST_ENCODED], whole=folded.span(start, match.end()))
        elif match := _APART.match(plain, start):
            yield View(_SEPARATOR.sub("", match[0]), whole=folded.span(start, match.end()))
        if end > leet_to and _LEET_WORD.search(plain, start, end):
            first, leet_to = max(start - _REACH, 0), end + _STRETCH
            yield View(plain[first:leet_to].translate(_LEET), folded.raw, at=first)


def _decoded(run: str, *, whole: tuple[int, int]) -> Iterator[View]:
    if run.islower() and run.isidentifier():
        return
    digits = _NOT_HEX.sub("", run)
    pairs = len(digits) * 2 > len(run) and not _ONLY_WORD.search(run)
    if decoded := _from_hex(digits) if pairs else _from_base64(run):
        yield View(_folded(decoded).plain, whole=whole)


def _folded(text: str) -> View:
    if "\\" in text:
        text = _ESCAPED_SPACE.sub("  ", text)
    if text.isascii():
        return View(text)
    plain = text.translate(_table())
    return View(plain, "" if len(plain) == len(text) else text)


@lru_cache(maxsize=1)
def _places(raw: str) -> list[int]:
    """Where each character stood that folding left."""
    table = _table()
    return [at for at, char in enumerate(raw) if table.get(ord(char)) != ""]


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
    return text if text.isprintable() or text.replace("\n", " ").replace("\t", " ").isprintable() else ""


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
