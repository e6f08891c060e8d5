"""Searching in linear time, whatever the pattern and whatever the text.

Takes: a pattern without groups.  Gives: a search over bytes that can be asked for every match.
Never: backtracks; loads RE2 before the first text, since that would be felt at every start.

An automaton that counts repetitions of many rows at once grows with every way to be in the middle of some of them, and RE2 turns slow
where it does not fit. `without_counting` and `openings` are patterns that match wherever the given one does, and do not grow so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import dropwhile
from typing import Any, Literal, Protocol

# Enough for the automaton of some hundred rows.
_MEMORY = 128 << 20


_COUNTED = re.compile(r"\{([0-9]+),?[0-9]*\}\??")
_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]\\])+\]|\(\?[a-z-]*:|[)|]|(?:\{[0-9]+,?[0-9]*\}|[?*+])\??|.", re.DOTALL)
# So many characters of the first part that varies are looked at; more would not make a hit much rarer.
_FEW = 8
_OR = "|"
_NO_WIDTH = ("^", r"\b", r"\B", r"\A")


Case = Literal["told apart", "ignored"]
Encoding = Literal["ascii", "utf-8"]


class Hit(Protocol):
    """One match, by where it stands."""

    def start(self) -> int: ...

    def end(self) -> int: ...


class Search(Protocol):
    """A compiled pattern."""

    def finditer(self, text: bytes, pos: int = ..., endpos: int = ...) -> Iterator[Hit]: ...

    def match(self, text: bytes, pos: int = ..., endpos: int = ...) -> Hit | None: ...


@cache
def search(pattern: str, *, case: Case = "told apart", encoding: Encoding = "ascii") -> Search:
    """The pattern, compiled once; where the text is ASCII, a character is a byte, and the automaton is far smaller."""
    re2: Any = import_module("re2")
    options = re2.Options()
    options.max_mem = _MEMORY
    options.never_capture = True
    options.case_sensitive = case == "told apart"
    if encoding == "ascii":
        options.encoding = re2.Options.Encoding.LATIN1
    compiled: Search = re2.compile(pattern.encode(), options)
    return compiled


@cache
def without_counting(pattern: str) -> str:
    """The pattern with every counted repetition as long as it likes."""
    return _COUNTED.sub(lambda count: "*" if count[1] == "0" else "+", pattern)


@cache
def openings(pattern: str) -> str:
    """How anything that the pattern matches begins: up to the first part of each alternative that varies in length."""
    return _opening(_TOKEN.findall(pattern)[::-1])[0]


def can_begin(pattern: str, first: str) -> bool:
    """Whether something that the pattern matches may begin with this character; in doubt it may."""
    begins, *rest = dropwhile(_NO_WIDTH.__contains__, _TOKEN.findall(pattern))
    is_optional = bool(rest) and rest[0].startswith(("?", "*", "{0"))
    if is_optional or _OR in rest or begins.startswith("("):
        return True
    return re.fullmatch(begins, first, re.ASCII) is not None


def _opening(tokens: list[str]) -> tuple[str, bool]:
    """The beginnings of the alternatives up to the end of the group, and whether they are all of it; uses the tokens up."""
    alternatives, kept, whole, varies = list[str](), "", True, False
    while tokens and (token := tokens.pop()) != ")":
        if token == _OR:
            alternatives, kept, varies = [*alternatives, kept], "", False
            continue
        inner, complete = _opening(tokens) if token.startswith("(?") else ("", True)
        part = f"{token}{inner})" if token.startswith("(?") else token
        count = tokens.pop() if tokens and tokens[-1][0] in "{?*+" else ""
        kept += "" if varies else _beginning(part, count)
        varies = varies or bool(count) or not complete
        whole = whole and not varies
    return _OR.join([*alternatives, kept]), whole


def _beginning(part: str, count: str) -> str:
    """What must stand there: all of it if it stands there once, the first few if they are characters of a kind."""
    least = 1 if count in ("", "+") else int(re.sub(r"[^0-9].*", "", count[1:]) or 0)
    return part if not count else f"{part}{{{min(least, _FEW)}}}" if part[0] == "[" and least else ""
