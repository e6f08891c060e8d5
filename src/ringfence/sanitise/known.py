"""Takes values that the runtime knows out of every text that leaves it, however they are spelled.

Takes: names with their values, then texts, bytes, or bytes piece by piece.
Gives: the same with `[REDACTED:NAME]` in their place, and which names were found.
Never: shows a value or a pattern made from one, and needs one pass over a text that holds none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias, TypeGuard

from ringfence.sanitise.prescan import Prescan, prescan
from ringfence.sanitise.search import Search
from ringfence.sanitise.spellings import PART, WIDEST, base64_spellings, bytes_of, parts_of, spellings

Hits: TypeAlias = Sequence[tuple[int, int, str]]

_MEMORY = 256 << 20
# No match is longer: a part is at most twice its usual length, and each byte has its widest spelling.
LONGEST = 2 * PART * WIDEST
# A text up to this length is searched at once; a longer one where something is suspicious.
_SHORT = 16_384
_MOST_PLACES = 64
_BOTH = (spellings, base64_spellings)
_SHARED_BEFORE = re.compile(rb"[A-Za-z0-9+/_-]\Z")
_SHARED_AFTER = re.compile(rb"[A-Za-z0-9+/_-]?={0,2}")


class Scrubber:
    """Knows some values for good; a new value makes a new scrubber. `hits` says where in some bytes they stand.

    `settled` says up to where no value can stand that goes on after the end.
    """

    __slots__ = ("hits", "knows_any", "settled")

    def __init__(self, values: Iterable[tuple[str, str]]) -> None:
        known = sorted(set(values))
        self.knows_any = bool(known)
        self.hits: Callable[[bytes], Hits] = _finder(known)
        self.settled: Callable[[bytes], int] = _settler("".join(value for _, value in known))

    def __repr__(self) -> str:
        return "Scrubber()"

    def names_in(self, text: str | bytes) -> frozenset[str]:
        """Whose values the text holds."""
        return frozenset(name for _, _, name in self.hits(text if isinstance(text, bytes) else _bytes(text)))

    def scrubbed(self, text: str, *, found: Counter[str] | None = None) -> str:
        """The text without the values; what was found is counted."""
        raw = _bytes(text)
        hits = self.hits(raw)
        return _text(_replaced(raw, hits, found=found)) if hits else text

    def scrubbed_bytes(self, raw: bytes, *, found: Counter[str] | None = None) -> bytes:
        hits = self.hits(raw)
        return _replaced(raw, hits, found=found) if hits else raw

    def scrubbed_json(self, value: Any, *, found: Counter[str] | None = None) -> Any:
        """Every text in a JSON value, keys and all; a number that is a value becomes text."""
        if not self.knows_any:
            return value
        if isinstance(value, str):
            return self.scrubbed(value, found=found)
        if _is_mapping(value):
            pairs = value.items()
            return {self.scrubbed(str(key), found=found): self.scrubbed_json(item, found=found) for key, item in pairs}
        if _is_list(value):
            return [self.scrubbed_json(item, found=found) for item in value]
        if value is None or isinstance(value, bool) or not self.names_in(str(value)):
            return value
        return self.scrubbed(str(value), found=found)

    def stream(self) -> Stream:
        return Stream(scrubber=self)


@dataclass(kw_only=True)
class Stream:
    """Bytes that come in pieces: the end of each is held back until no value can begin in it."""

    scrubber: Scrubber
    found: Counter[str] = field(default_factory=Counter[str])
    _held: bytes = b""

    def feed(self, piece: bytes) -> bytes:
        """What can go on now."""
        held = self._held + piece
        hits = self.scrubber.hits(held)
        cut = max(len(held) - LONGEST, self.scrubber.settled(held))
        whole = [hit for hit in hits if hit[0] < cut]
        cut = max([cut, *(end for _, end, _ in whole)])
        self._held = held[cut:]
        return _replaced(held[:cut], whole, found=self.found)

    def end(self) -> bytes:
        """What is left, when nothing more comes."""
        held, self._held = self._held, b""
        return self.scrubber.scrubbed_bytes(held, found=self.found)


def redacted(name: str) -> str:
    """What stands where a value stood."""
    return f"[REDACTED:{name}]"


def _replaced(raw: bytes, hits: Hits, *, found: Counter[str] | None) -> bytes:
    pieces, at, last = list[bytes](), 0, None
    for start, end, name in hits:
        between = raw[at:start]
        # The parts of one long value, side by side, are one value.
        if between or name != last:
            pieces += [between, redacted(name).encode()]
            if found is not None:
                found[name] += 1
        at, last = end, name
    return b"".join([*pieces, raw[at:]])


def _finder(values: Sequence[tuple[str, str]]) -> Callable[[bytes], Hits]:
    """The search, with the values where only it can reach them."""
    if not values:
        return lambda raw: ()
    every = _compiled("|".join(_pattern(value, _BOTH) for _, value in values))

    @cache
    def ahead() -> Prescan | None:
        """When the first long text comes: some runtimes never see one."""
        return prescan((value for _, value in values), compiled=_compiled)

    patterns = list[tuple[str, bool, Search]]()

    def named(written: bytes) -> tuple[str, bool]:
        """Whose value was found, and whether in Base64."""
        if not patterns:
            # On the first find: most runtimes never see one.
            patterns.extend(
                (n, how is base64_spellings, _compiled(_pattern(v, (how,)))) for n, v in values for how in _BOTH
            )
        return next((n, shared) for n, shared, one in patterns if next(one.finditer(written), None) is not None)

    def find(raw: bytes) -> Hits:
        if len(raw) > _SHORT and (first := ahead()) and not _may_hold(raw, first.places(raw), search=every):
            return ()
        return _widened(
            raw, [(hit.start(), hit.end(), *named(raw[hit.start() : hit.end()])) for hit in every.finditer(raw)]
        )

    return find


def _settler(letters: str) -> Callable[[bytes], int]:
    begins, follows = bytes_of(letters)

    def settled(raw: bytes) -> int:
        tail = raw[-LONGEST:]
        return len(raw) - len(tail[len(tail.rstrip(begins + follows)) :].lstrip(follows))

    return settled


def _may_hold(raw: bytes, places: Iterator[int], *, search: Search) -> bool:
    """Whether a search of all of it is worth while: a value stands at one of the places, or they are too many to look."""
    for looked, at in enumerate(places):
        near = raw[max(at - LONGEST, 0) : at + LONGEST]
        if looked == _MOST_PLACES or next(search.finditer(near), None) is not None:
            return True
    return False


def _widened(raw: bytes, found: Sequence[tuple[int, int, str, bool]]) -> Hits:
    """In Base64 the first and the last letter also hold bits of their neighbours, and are taken with the rest."""
    hits = list[tuple[int, int, str]]()
    for at, (start, end, name, shared) in enumerate(found):
        least = hits[-1][1] if hits else 0
        most = found[at + 1][0] if at + 1 < len(found) else len(raw)
        before = _SHARED_BEFORE.search(raw[max(least, start - 1) : start]) if shared else None
        after = _SHARED_AFTER.match(raw[end : min(most, end + 3)]) if shared else None
        hits.append((start - len(before[0]) if before else start, end + len(after[0]) if after else end, name))
    return hits


def _pattern(value: str, ways: Sequence[Callable[[str], Iterator[str]]]) -> str:
    return "|".join(spelling for part in parts_of(value) for way in ways for spelling in way(part))


def _compiled(pattern: str) -> Search:
    # Apart from `search`, which remembers its patterns for good and lets RE2 write them to the log.
    re2: Any = import_module("re2")
    options = re2.Options()
    options.max_mem = _MEMORY
    options.never_capture = True
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    compiled: Search = re2.compile(pattern.encode("latin-1"), options)
    return compiled


def _is_mapping(value: Any) -> TypeGuard[dict[Any, Any]]:
    return isinstance(value, dict)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list | tuple)


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _text(raw: bytes) -> str:
    return raw.decode(errors="surrogatepass")


NOTHING_KNOWN = Scrubber(())
