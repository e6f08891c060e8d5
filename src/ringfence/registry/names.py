"""Two tool names collide when a reader or a model could take one for the other.

Takes: names as they came, in any script.  Gives: `valid_name`, `skeleton`, `collides`, and `NameIndex`, which refuses
the second of two names that collide.  Never: changes a name, or holds a name to be safe because it is ASCII.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import product
from math import prod

from ringfence.errors import NameCollision
from ringfence.registry.confusables import readings

_VALID = re.compile(r"[a-z][a-z0-9_]{0,63}")
_KEYS_A_NAME = 64

Spelling = tuple[tuple[str, ...], ...]
"""A name as a row of parts, each with the ways to read it."""


def valid_name(name: str) -> bool:
    """Whether a tool may be registered under this name."""
    return _VALID.fullmatch(name) is not None


def skeleton(name: str) -> str:
    """The first reading of a name; equal skeletons collide, and so may others (`collides` tries every reading)."""
    if _is_plain(name):
        return name.translate(_plain_readings())
    return "".join(part[0] for part in _spelling(name))


def collides(a: str, b: str) -> bool:
    """Whether some reading of one name is also a reading of the other; a name collides with itself."""
    if _is_plain(a) and _is_plain(b):
        return skeleton(a) == skeleton(b)
    return _meet(_spelling(a), _spelling(b))


class NameIndex:
    """The names of one registry, no two of which can be taken for each other."""

    def __init__(self) -> None:
        self._by_reading: dict[str, str] = {}
        self._crowded: dict[str, Spelling] = {}
        self._names: dict[str, None] = {}

    def add(self, name: str) -> None:
        """Take the name in, or raise `NameCollision` naming it and the one that it collides with."""
        other = self.find(name)
        if other == name:
            raise NameCollision(f"the tool name `{_shown(name)}` is taken")
        if other is not None:
            raise NameCollision(f"the tool names `{_shown(name)}` and `{_shown(other)}` look the same")
        spelling = _spelling(name)
        self._names[name] = None
        if _is_crowded(spelling):
            self._crowded[name] = spelling
        else:
            self._by_reading.update(dict.fromkeys(_written_out(spelling), name))

    def find(self, name: str) -> str | None:
        """The name in the index that this one collides with, if there is one."""
        spelling = _spelling(name)
        if _is_crowded(spelling):
            return next((other for other in self._names if _meet(spelling, _spelling(other))), None)
        for reading in _written_out(spelling):
            if reading in self._by_reading:
                return self._by_reading[reading]
        return next((other for other, known in self._crowded.items() if _meet(spelling, known)), None)


def _is_plain(name: str) -> bool:
    """Whether every character has one reading; of ASCII only `I` has two, and white space counts by its place."""
    return name.isascii() and "I" not in name and not name[:1].isspace() and not name[-1:].isspace()


@lru_cache(maxsize=1)
def _plain_readings() -> dict[int, str]:
    return {point: readings(chr(point))[0] for point in range(128)}


def _spelling(name: str) -> Spelling:
    if _is_plain(name):
        return ((skeleton(name),),)
    visible = "".join(char for char in unicodedata.normalize("NFC", name) if readings(char) != ("",))
    return tuple(readings(char) for char in visible.strip())


def _is_crowded(spelling: Spelling) -> bool:
    """Whether the name has too many readings to write out."""
    return prod(len(part) for part in spelling) > _KEYS_A_NAME


def _written_out(spelling: Spelling) -> list[str]:
    return ["".join(parts) for parts in product(*spelling)]


def _meet(a: Spelling, b: Spelling) -> bool:
    """Whether the two have a reading in common; walks both at once, so the cost does not double with each part."""
    todo = [(0, 0, "", "")]
    seen = set(todo)
    while todo:
        at_a, at_b, rest_a, rest_b = todo.pop()
        steps: list[tuple[int, int, str, str]] = []
        if not rest_a and at_a < len(a):
            steps = [(at_a + 1, at_b, reading, rest_b) for reading in a[at_a]]
        elif not rest_b and at_b < len(b):
            steps = [(at_a, at_b + 1, rest_a, reading) for reading in b[at_b]]
        elif not rest_a and not rest_b:
            return True
        for i, j, left, right in steps:
            shared = min(len(left), len(right))
            step = (i, j, left[shared:], right[shared:])
            if left[:shared] == right[:shared] and step not in seen:
                seen.add(step)
                todo.append(step)
    return False


def _shown(name: str) -> str:
    """Every character outside ASCII by its number: two names that look the same must differ in the message."""
    return ascii(name)[1:-1]
