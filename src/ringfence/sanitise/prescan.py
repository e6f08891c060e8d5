"""A look at every few bytes of a long text: enough to know that it holds no known value, and far less than a search.

Takes: values, then texts.  Gives: places where one may stand, to be searched properly.
Never: passes over a usual spelling. In each some stretch of letters stands side by side, and every few of them are seen here; or a
letter is written as a code although it need not be, and such codes are looked for by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from ringfence.sanitise.search import Search
from ringfence.sanitise.spellings import base64_letters, parts_of

Compiled: TypeAlias = Callable[[str], Search]
Stretch: TypeAlias = Sequence[str]

# So many letters of a stretch are looked at, at least and at most.
_LEAST_SEEN, _MOST_SEEN = 4, 6
# Where fewer bytes than these could be left out, nothing is gained.
_LEAST_STRIDE = 3
_MOST_PATTERNS = 8_000
# Where every so many bytes there is a backslash, as in text within JSON, what follows them is told by rarer letters.
_DENSE, _FEW = 100, 16
_AS_THEY_ARE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~"
_STRETCH = re.compile(r"[A-Za-z0-9\-_.~]+")
_ONE = re.compile(r"\[[^\]]+\]|\\x..|\\.|.")
# So many digits of hex stand together in a dump.
_GROUPS = (2, 4, 8)
# What Markdown, and what other writers put a backslash before; what some put one before in Base64.
_MARKS = (frozenset("_"), frozenset(map(re.escape, "-_.~")))
_SLASH = frozenset({"[/_]"})
_PAIRS = "|".join(f"{ord(letter):02x}" for letter in _AS_THEY_ARE)
_DECIMALS = "|".join(str(ord(letter)) for letter in _AS_THEY_ARE)
# Each begins with a letter that most texts have few of.
_CODES = (
    rf"%(?:25)?(?i:{_PAIRS})",
    rf"&#(?:0{{0,4}}(?:{_DECIMALS})|(?i:x0{{0,4}}(?:{_PAIRS})));",
)
_AFTER_BACKSLASH = rf"\\(?:[uU](?:0000)?00(?i:{_PAIRS})|[xX](?i:{_PAIRS})|[-_.~/])"
_AFTER_BACKSLASHES = ((rf"00(?i:{_PAIRS})", b"uU0"), (rf"x(?i:{_PAIRS})", b"\\"))


class Prescan:
    """Made for some values; `places` in a text may hold one of them."""

    __slots__ = ("_codes", "_dense", "_sampled", "_sparse", "_stride")

    def __init__(self, *, stride: int, sampled: Search, compiled: Compiled) -> None:
        self._stride = stride
        self._sampled = sampled
        self._codes = [compiled(code) for code in _CODES]
        self._sparse = compiled(_AFTER_BACKSLASH)
        self._dense = [(compiled(code), behind) for code, behind in _AFTER_BACKSLASHES]

    def places(self, raw: bytes) -> Iterator[int]:
        """Where a value may stand, each somewhere within it."""
        seen = raw[:: self._stride]
        yield from (hit.start() * self._stride for hit in self._sampled.finditer(seen))
        for code in self._codes:
            yield from (hit.start() for hit in code.finditer(raw))
        few = seen[::_FEW]
        if few.count(b"\\") < len(few) // _DENSE:
            yield from (hit.start() for hit in self._sparse.finditer(raw))
        else:
            for code, behind in self._dense:
                yield from (at for hit in code.finditer(raw) if (at := hit.start()) and raw[at - 1] in behind)


def prescan(values: Iterable[str], *, compiled: Compiled) -> Prescan | None:
    """A prescan for these values; None where they are too short or too many for one."""
    stretches = [stretch for value in values for part in parts_of(value) for stretch in _stretches(part)]
    stride = min(map(len, stretches), default=0) // _LEAST_SEEN
    if stride < _LEAST_STRIDE or len(stretches) * stride > _MOST_PATTERNS:
        return None
    seen = dict.fromkeys("".join(each[at::stride][:_MOST_SEEN]) for each in stretches for at in range(stride))
    return Prescan(stride=stride, sampled=compiled("|".join(seen)), compiled=compiled)


def _stretches(part: str) -> Iterator[Stretch]:
    """Letters that stand side by side in some spelling, each as a pattern of one byte."""
    yield from _plain(max(_STRETCH.findall(part), key=len, default=""))
    yield [rf"\x{byte:02x}" for letter in reversed(part) for byte in letter.encode()]
    yield from _hex(part.encode().hex())
    for letters in base64_letters(part):
        line = _ONE.findall(letters)
        # A break leaves one half of a line whole.
        for half in (line[: len(line) // 2], line[len(line) // 2 :]):
            yield half
            yield _with_backslashes(half, before=_SLASH)


def _plain(letters: str) -> Iterator[Stretch]:
    line = [re.escape(letter) for letter in letters]
    yield line
    for before in _MARKS:
        yield _with_backslashes(line, before=before)


def _with_backslashes(line: Stretch, *, before: frozenset[str]) -> Stretch:
    return [each for one in line for each in ((r"\\", one) if one in before else (one,))]


def _hex(digits: str) -> Iterator[Stretch]:
    line = [f"[{digit}{digit.upper()}]" for digit in digits]
    yield line
    for size in _GROUPS:
        for ahead in range(0, size, 2):
            cuts = range(ahead, len(line), size)
            yield [each for at, one in enumerate(line) for each in (("[: -]", one) if at in cuts else (one,))]
