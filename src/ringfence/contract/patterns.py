"""The one glob: `*` is any run of characters, `?` is any one, everything else is itself.

Takes: a pattern from a contract or a config file.  Gives: a test of whole strings, case-sensitive, for tool names and
argument conditions alike.  Never: backtracks over more than one `*`, so hostile text costs no more than its length
times the pattern's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

Matcher = Callable[[str], bool]


@lru_cache(maxsize=4096)
def glob(pattern: str) -> Matcher:
    """Compile a pattern to a test of whole strings."""
    if "?" in pattern:
        return _any_glob(pattern)
    if "*" in pattern:
        return _star_glob(pattern)
    return lambda text: text == pattern


class GlobSet:
    """Patterns in the order given; the empty set matches nothing."""

    __slots__ = ("_globs", "_literals", "patterns")

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        self._literals = frozenset(pattern for pattern in self.patterns if not _is_glob(pattern))
        self._globs = tuple(glob(pattern) for pattern in self.patterns if _is_glob(pattern))

    def __repr__(self) -> str:
        return f"GlobSet({list(self.patterns)!r})"

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobSet) and self.patterns == other.patterns

    def __hash__(self) -> int:
        return hash(self.patterns)

    def matches(self, text: str) -> bool:
        """Whether any of the patterns matches the whole text."""
        return text in self._literals or (bool(self._globs) and any(matches(text) for matches in self._globs))

    def first(self, text: str) -> str | None:
        """The first pattern that matches, for messages that say which rule applied."""
        return next((pattern for pattern in self.patterns if glob(pattern)(text)), None)


def _is_glob(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern


def _star_glob(pattern: str) -> Matcher:
    head, *middle, tail = pattern.split("*")
    shortest = sum(map(len, middle), len(head) + len(tail))

    def matches(text: str) -> bool:
        if len(text) < shortest or not text.startswith(head) or not text.endswith(tail):
            return False
        at, end = len(head), len(text) - len(tail)
        for piece in middle:
            found = text.find(piece, at, end)
            if found < 0:
                return False
            at = found + len(piece)
        return True

    return matches


def _any_glob(pattern: str) -> Matcher:
    length = len(pattern)

    def matches(text: str) -> bool:
        at = place = 0
        star, resume = -1, 0
        while at < len(text):
            if place < length and pattern[place] == "*":
                star, resume = place, at
                place += 1
            elif place < length and pattern[place] in ("?", text[at]):
                place += 1
                at += 1
            elif star >= 0:
                # INVARIANT: only the last star is ever moved; what an earlier one took can stay as short as it is.
                resume += 1
                place, at = star + 1, resume
            else:
                return False
        return pattern[place:].strip("*") == ""

    return matches
