"""No credential is left in the text: each becomes a marker that says what stood there.

Takes: text.  Gives: edits that replace tokens, keys and passwords, by their own spelling or by their place.
Never: replaces a marker; looks at a text in more than linear time.

RE2 searches the whole text for how any row begins; only what it finds is looked at row by row. It sees one byte for each
character, since no row holds anything but ASCII, so positions need no translation.

INVARIANT: what is replaced ends where no letter or digit follows, and a value never touches a bracket. So what stands beside a
marker is judged as it was beside the credential, and a second pass finds nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache

from ringfence.sanitise import credential_formats, credential_formats_l_to_z, credential_shapes, manifests
from ringfence.sanitise.credential_contexts import CONTEXTS, Context
from ringfence.sanitise.credential_format import Format
from ringfence.sanitise.credential_shapes import PRIVATE_KEY
from ringfence.sanitise.edits import Edit
from ringfence.sanitise.randomness import is_drawn, is_placeholder
from ringfence.sanitise.search import can_begin, openings, search, without_counting

FORMATS: tuple[Format, ...] = (
    *credential_shapes.FORMATS,
    *credential_formats.FORMATS,
    *credential_formats_l_to_z.FORMATS,
)
KIND = "credential"

_ANY_FORMAT = "|".join(row.pattern for row in FORMATS)
_ANY_CONTEXT = "|".join(row.pattern for row in CONTEXTS)
_KEY_EDGE = re.compile(r"-----(?:BEGIN|(END[ A-Z0-9_-]{0,60}-----))")
_KEY_LINES = re.compile(r"(?:(?:\s|\\[rn])*[A-Za-z0-9+/=]{16,}){0,400}")
_WORD = re.compile(r"\w*", re.ASCII)
_LONGEST_KEY = 32_768
_LONG = 16
# Longer first parts of a token are not known.
_FURTHEST_BACK = 4_096


def redacted(text: str) -> Sequence[Edit]:
    """Every credential, replaced by a marker."""
    seen = text.encode("ascii", errors="replace")
    if next(search(_anything()).finditer(seen), None) is None:
        return []
    spelled = list(_spelled(text, seen))
    placed = list(_placed(text, seen, taken=spelled))
    kept = list(_kept(text, taken=sorted(spelled + placed)))
    return sorted(spelled + placed + kept) if placed or kept else spelled


def _spelled(text: str, seen: bytes) -> Iterator[Edit]:
    at = 0
    while hit := next(search(openings(_ANY_FORMAT)).finditer(seen, at), None):
        match = _rows(text[hit.start()]).match(text, hit.start())
        row = FORMATS[int((match.lastgroup or "_0")[1:])] if match else None
        if match is None or row is None or (start := _begin(row, text, match.start(), after=at)) is None:
            at = hit.start() + 1
            continue
        end = _end_of_key(text, match.end()) if row.id == PRIVATE_KEY else match.end()
        at = _end_of_word(text, end)
        yield _edit(start, at, row.id)


def _begin(row: Format, text: str, start: int, *, after: int) -> int | None:
    """Where the spelling begins, with what has to stand before it; nothing if that does not."""
    if not row.before:
        return start
    before = _before(row.before).search(text, max(after, start - _FURTHEST_BACK), start)
    return before.start() if before else None


def _kept(text: str, *, taken: Sequence[Edit]) -> Iterator[Edit]:
    return (
        _edit(start, end, manifests.NAME) for start, end in manifests.values(text) if _is_free(start, end, taken=taken)
    )


def _placed(text: str, seen: bytes, *, taken: Sequence[Edit]) -> Iterator[Edit]:
    """Values by their place, in what is left between those taken; a value that touches one would touch its marker."""
    starts, ends = [0, *(edit.end for edit in taken)], [*(edit.start for edit in taken), len(text)]
    for first, last in zip(starts, ends, strict=True):
        for row, start, end in _valued(text, seen, first, last):
            touches = end == last < len(text) or text[end : end + 1] in ("[", "(")
            if not touches and _counts(row, text[start:end]):
                yield _edit(start, end, row.id)


def _valued(text: str, seen: bytes, first: int, last: int) -> Iterator[tuple[Context, int, int]]:
    followed = first
    for hit in search(without_counting(_ANY_CONTEXT)).finditer(seen, first, last):
        match = _places().match(text, hit.start(), last)
        if match is None or match.lastindex is None:
            continue
        row = CONTEXTS[match.lastindex - 1]
        if not row.again:
            yield row, *match.span(match.lastindex)
        elif match.end() > followed:
            for start, followed in _chain(row, text, match, last):
                yield row, start, followed


def _chain(row: Context, text: str, match: re.Match[str], last: int) -> Iterator[tuple[int, int]]:
    """The value, and those that follow it in the same place."""
    further: re.Match[str] | None = match
    group = match.lastindex or 0
    while further:
        yield further.span(group)
        further, group = _further(row.again).match(text, further.end(), last), 1


def _is_free(start: int, end: int, *, taken: Sequence[Edit]) -> bool:
    """Whether nothing of this has been taken yet."""
    before = bisect_right(taken, end - 1, key=_start) - 1
    return before < 0 or taken[before].end <= start


def _start(edit: Edit) -> int:
    return edit.start


def _counts(row: Context, value: str) -> bool:
    if row.doubt == "any":
        return not is_placeholder(value)
    return is_drawn(value) and (row.doubt == "random" or len(value) >= _LONG)


def _end_of_key(text: str, start: int) -> int:
    """Where a private key ends: at its last line, or where its lines of base64 stop."""
    edge = _KEY_EDGE.search(text, start, start + _LONGEST_KEY)
    if edge is not None and edge[1]:
        return edge.end()
    lines = _KEY_LINES.match(text, start, edge.start() if edge else len(text))
    return lines.end() if lines else start


def _end_of_word(text: str, at: int) -> int:
    rest = _WORD.match(text, at)
    return rest.end() if rest else at


def _edit(start: int, end: int, name: str) -> Edit:
    return Edit(start, end, KIND, f"[redacted: {name}]", name)


@cache
def _anything() -> str:
    """All of it as one search, since most text holds nothing."""
    return "|".join((openings(_ANY_FORMAT), without_counting(_ANY_CONTEXT), manifests.OPENING))


@cache
def _rows(first: str) -> re.Pattern[str]:
    """The rows that may begin with this character, in their order; few do, and each row that is tried costs time."""
    rows = ((at, row.pattern) for at, row in enumerate(FORMATS) if can_begin(row.pattern, first))
    return re.compile("|".join(f"(?P<_{at}>{pattern})" for at, pattern in rows), re.ASCII)


@cache
def _before(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern})\Z", re.ASCII)


@cache
def _further(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


@cache
def _places() -> re.Pattern[str]:
    return re.compile(_ANY_CONTEXT, re.ASCII)
