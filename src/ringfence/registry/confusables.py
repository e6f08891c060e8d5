"""What a single character can be taken for by a reader.

Takes: one character.  Gives: every way to read it, in prototypes of UTS #39, lower case; nothing if it is drawn as
nothing.  Never: judges a whole name (see `names`), or loads its table before the first question.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from ringfence.sanitise.lookalikes import stored

# Beside UTS #39, which has `m` as `rn`, `1` as `l` and `0` as `O`.
ADDED: dict[str, tuple[str, str]] = {
    "w": ("vv", "as close in a proportional typeface as `m` and `rn`, which UTS #39 has"),
}


@dataclass(frozen=True, kw_only=True)
class Table:
    """The generated table as it is asked: character to prototype, and the ranges that are drawn as nothing."""

    unicode: str
    prototypes: dict[str, str]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def ignores(self, char: str) -> bool:
        place = bisect_right(self.starts, ord(char)) - 1
        return place >= 0 and ord(char) <= self.ends[place]

    def settle(self, text: str) -> str:
        """Fold and replace until nothing changes; a test walks every character to show that this ends."""
        while True:
            folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
            replaced = "".join(self.prototypes.get(char, char) for char in folded)
            if replaced == text:
                return text
            text = replaced


@lru_cache(maxsize=1)
def table() -> Table:
    known = stored()
    prototypes = {char: prototype for prototype, chars in known["prototypes"].items() for char in chars}
    prototypes.update({char: prototype for char, (prototype, _) in ADDED.items()})
    return Table(
        unicode=known["unicode"],
        prototypes=prototypes,
        starts=tuple(start for start, _ in known["ignorable"]),
        ends=tuple(end for _, end in known["ignorable"]),
    )


@lru_cache(maxsize=4096)
def readings(char: str) -> tuple[str, ...]:
    """Two at most: as it is drawn (`I` is `l`) and as it is folded (`I` is `i`); neither order alone finds both."""
    known = table()
    if known.ignores(char) or unicodedata.category(char) in ("Cc", "Cf"):
        return ("",)
    drawn = known.settle(known.prototypes.get(char, char))
    folded = known.settle(char)
    first, second = (folded, drawn) if char.isascii() else (drawn, folded)
    return (first,) if first == second else (first, second)
