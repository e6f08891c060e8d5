"""Rows of the role table as patterns over plain letters, with room between the letters.

Takes: rows.  Gives: two patterns, as text.  Never: searches; nests a repetition in a repetition.

A pattern begins with one class of characters, by which the engine skips harmless text many times faster; names share
their beginnings, so that a text full of beginnings costs no more than a few steps each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

from ringfence.sanitise.role_table import RoleToken, Shape
from ringfence.sanitise.search import without_counting

Case = Literal["any", "exact"]

LONGEST_NAME = 48
# The longest that a token can be: a call with its attributes, each letter of its name apart.
LONGEST_TOKEN = 160
FIRST: dict[Shape, str] = {
    "piped": "<",
    "half_piped": "<",
    "doubled": "<",
    "tag": "<",
    "calling": "<",
    "square": "[",
    "barred": "[",
    "anchored": "[",
    "heading": "#",
    "rule": "#",
    "braces": "{",
    "arrows": ">",
}

_GAP = "[ \t]{0,3}+"
# A digit that is drawn like a letter.
_DIGITS = {"o": "0", "i": "1", "l": "1"}
_FIXED = {"9": r"\d{1,4}+", "~": ""}


def delimited(rows: Iterable[RoleToken]) -> str:
    """Every token that has its own delimiters, by the first of them."""
    branches: dict[str, list[str]] = {}
    for row in rows:
        if row.shape in FIRST:
            branches.setdefault(FIRST[row.shape], []).append(f"(?P<{row.id}>{_SHAPES[row.shape](row)})")
    drawn = (f"(?<={re.escape(first)})(?:{'|'.join(each)})" for first, each in branches.items())
    return f"[{re.escape(''.join(branches))}](?:{'|'.join(drawn)})"


def loosely(pattern: str) -> str:
    """What matches wherever the pattern does, for an engine in linear time: nothing looks around or holds what it took.

    The class that a pattern begins with goes, and each branch begins with the character it looked back at.
    """
    branches = pattern[pattern.index("]", 2) + 1 :]
    for looks, stands in ((r"\(\?<=(\\?.)\)", r"\1"), (r"\(\?<?[=!](?:\\.|[^)\\])*\)", ""), (r"\(\?P<\w+>", "(?:")):
        branches = re.sub(looks, stands, branches)
    return without_counting(re.sub(r"(?<=[}?*+])\+", "", branches))


def labels(rows: Iterable[RoleToken]) -> str:
    """Every label before a colon."""
    listed = [row for row in rows if row.shape in ("label", "field")]
    first = "".join(sorted({name[0] for row in listed for name in row.names.split()}))
    branches = (f"(?P<{row.id}>{_label(row)})" for row in listed)
    return f"[{first}](?<!\\w.)(?:{'|'.join(branches)}){_GAP}[*_]{{0,2}}+:"


def _names(row: RoleToken, *, case: Case = "any") -> str:
    return _any_of(row.names.split(), case=case)


def _any_of(words: Iterable[str], *, case: Case) -> str:
    """One of these words, in which blanks may stand between the letters; common beginnings are tried once."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        by_first.setdefault(word[:1] if case == "exact" else word[:1].lower(), []).append(word[1:])
    ends = by_first.pop("", [])
    drawn = [f"{_letter(first, case=case)}{_rest(rests, case=case)}" for first, rests in by_first.items()]
    return f"(?:{'|'.join([*drawn, *([''] if ends else [])])})"


def _letter(char: str, *, case: Case) -> str:
    if char in _FIXED:
        return _FIXED[char]
    if case == "exact" or not char.isalpha():
        return re.escape(char)
    return f"[{char.lower()}{char.upper()}{_DIGITS.get(char.lower(), '')}]"


def _rest(rests: list[str], *, case: Case) -> str:
    return "" if rests == [""] else f"{_GAP}{_any_of(rests, case=case)}"


def _closed(row: RoleToken) -> str:
    return f"{_GAP}(?:/{_GAP})?+{_names(row)}"


def _piped(row: RoleToken) -> str:
    tight = rf"\w[\w .:/-]{{0,{LONGEST_NAME}}}+(?<!\s)"
    return rf"{_GAP}\|(?:{tight}|{_GAP}{_names(row)}{_GAP})\|{_GAP}>"


def _half_piped(row: RoleToken) -> str:
    return rf"(?:\|{_names(row)}|{_names(row)}\|)>"


def _calling(row: RoleToken) -> str:
    """With attributes too; the name may have a prefix. Not every engine counts all of these blanks as such."""
    return rf"{_GAP}(?:/{_GAP})?+(?:[a-z]{{1,16}}+:)?+{_names(row)}(?:[\s\v\x1c-\x1f=][^<>]{{0,80}}+)?+>"


def _heading(row: RoleToken) -> str:
    return rf"(?<!#.){_GAP}#{_GAP}#(?!#){_GAP}{_names(row)}(?:{_GAP}:|(?!\w))"


def _label(row: RoleToken) -> str:
    """In upper case, or its first letter: in lower case these are keys of a record."""
    by_first: dict[str, list[str]] = {}
    for name in row.names.split():
        by_first.setdefault(name[0], []).append(name[1:])
    drawn = (f"(?<={first}){_GAP}{_any_of(rests, case='any')}" for first, rests in by_first.items())
    return f"(?:{'|'.join(drawn)})"


_SHAPES: dict[Shape, Callable[[RoleToken], str]] = {
    "piped": _piped,
    "half_piped": _half_piped,
    "doubled": lambda row: f"{_GAP}<{_closed(row)}{_GAP}>{_GAP}>",
    "tag": lambda row: f"{_GAP}(?:/{_GAP})?+(?:[a-z]{{1,16}}+:)?+{_names(row)}{_GAP}>",
    "calling": _calling,
    "square": lambda row: rf"{_closed(row)}{_GAP}\]",
    "barred": lambda row: r"\|[^\W_]{1,24}+\|\]",
    "anchored": lambda row: rf"{_GAP}{_names(row)}{_GAP}\][ \t]?\([ \t]?#\w{{0,40}}+\)",
    "heading": _heading,
    "rule": lambda row: r"(?<!#.)##(?!#)",
    "braces": lambda row: rf"\{{~?[ \t]?[#/][ \t]?{_names(row)}[ \t]?~?\}}\}}",
    "arrows": lambda row: f">{_names(row, case='exact')}<<",
}
