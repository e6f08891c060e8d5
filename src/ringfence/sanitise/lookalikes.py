"""Which characters are drawn like a plain one: the table of Unicode's UTS #39, and what it leaves out.

Takes: nothing.  Gives: the table as it is stored, and the same from either side, for plain characters alone.
Never: reads its file before the first question.

The file is written by `scripts/confusables` from the Unicode Consortium's own, of one pinned version.
"""

from __future__ import annotations

import json
import unicodedata
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import TypedDict


class Stored(TypedDict):
    """The file: its Unicode version, each prototype with all that look like it, and the ranges drawn as nothing."""

    unicode: str
    notice: str
    ignorable: list[tuple[int, int]]
    prototypes: dict[str, str]


BESIDE: tuple[tuple[str, str, str], ...] = (
    # (plain character, what is taken for it, why UTS #39 does not say so)
    ("|", "\u00a6\u01c0\u0964\u2016\u2223\u2502\u2503\u2758\u2759\u275a\u23d0\uffe8\U0001d114", "it has bars as `l`, which nobody means between angle brackets"),
    ("<", "\u00ab\u2329\u276c\u2770\u27e8\u3008\u300a\u2264\u227a\ufe64", "quotation marks and brackets that open to the right"),
    (">", "\u00bb\u232a\u276d\u2771\u27e9\u3009\u300b\u2265\u227b\ufe65", "quotation marks and brackets that open to the left"),
    ("[", "\u27e6\u3010\u3014\u3016\u301a\u2045", "brackets of East Asia and of mathematics"),
    ("]", "\u27e7\u3011\u3015\u3017\u301b\u2046", "brackets of East Asia and of mathematics"),
    ("#", "\u2317\u266f\ufe5f", "the sharp and the viewdata square"),
    ("_", "\u2017\u2581\u02cd", "the block that some templates use for a space"),
    (":", "\u2982\ua4fd\ufe55\u02f8", "small and mathematical colons"),
)  # fmt: skip


@lru_cache(maxsize=1)
def stored() -> Stored:
    table: Stored = json.loads(Path(__file__).with_name("lookalikes.json").read_text(encoding="ascii"))
    return table


@lru_cache(maxsize=1)
def spellings() -> dict[str, str]:
    """For each printable ASCII character, in lower case, every other character that a reader may take for it."""
    known: defaultdict[str, set[str]] = defaultdict(set)
    for prototype, chars in stored()["prototypes"].items():
        for char in chars:
            known[_plain(prototype)].add(char)
    for plain, chars, _ in BESIDE:
        known[plain].update(chars)
    for point in _COMPATIBLE:
        known[_plain(chr(point))].add(chr(point))
    return {plain: "".join(sorted(known[plain])) for plain in map(chr, range(0x21, 0x7F)) if known[plain]}


@lru_cache(maxsize=1)
def folds() -> dict[int, str]:
    """One plain character for each that is drawn like one, in the case it is drawn in; a text keeps its length."""
    table: dict[int, str] = {}
    for prototype, chars in stored()["prototypes"].items():
        if len(prototype) == 1 and prototype.isascii():
            table |= {ord(char): _stroke(char) if prototype == "l" else prototype for char in chars if char > "\x7f"}
    table |= {point: plain for point in _COMPATIBLE if (plain := _in_its_case(chr(point)))}
    return table | {ord(char): plain for plain, chars, _ in BESIDE for char in chars}


def _stroke(char: str) -> str:
    """A single stroke is an `I` where its own name says so, and else an `l`."""
    return "I" if unicodedata.name(char, "").endswith((" I", " IOTA", " PALOCHKA", " NUMERAL ONE")) else "l"


def _in_its_case(char: str) -> str:
    plain = unicodedata.normalize("NFKC", char).strip("()\u3014\u3015")
    return plain if len(plain) == 1 and plain.isascii() else ""


# Where Unicode keeps the other forms of Latin letters: modifiers, circled, full-width, mathematical.
_COMPATIBLE = (*range(0x1D2C, 0x1D6B), *range(0x2070, 0x214F), *range(0x2460, 0x24FF), *range(0xFE00, 0xFFEF), *range(0x1D400, 0x1D800), *range(0x1F100, 0x1F18B))  # fmt: skip


def _plain(text: str) -> str:
    """The one lower-case character that compatibility makes of it, or nothing."""
    return _in_its_case(text).casefold()
