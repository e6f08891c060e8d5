"""Searching in linear time, whatever the pattern and whatever the text.

Takes: a pattern without groups.  Gives: a search over bytes that can be asked for every match.
Never: backtracks; loads RE2 before the first text, since that would be felt at every start.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, Literal, Protocol

# Enough for the automaton of some hundred rows.
_MEMORY = 128 << 20


class Hit(Protocol):
    """One match, by where it stands."""

    def start(self) -> int: ...

    def end(self) -> int: ...


class Search(Protocol):
    """A compiled pattern."""

    def finditer(self, text: bytes, pos: int = ..., endpos: int = ...) -> Iterator[Hit]: ...

    def match(self, text: bytes, pos: int = ..., endpos: int = ...) -> Hit | None: ...


@cache
def search(pattern: str, *, case: Literal["told apart", "ignored"] = "told apart") -> Search:
    """The pattern, compiled once."""
    re2: Any = import_module("re2")
    options = re2.Options()
    options.max_mem = _MEMORY
    options.never_capture = True
    options.case_sensitive = case == "told apart"
    compiled: Search = re2.compile(pattern.encode(), options)
    return compiled
