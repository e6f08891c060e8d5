"""No text of a stranger can take a turn in a conversation: the tokens by which a model tells speakers are taken apart.

Takes: text without hidden characters.  Gives: edits that put `[role: name]` in place of each token.
Never: needs the exact spelling; look-alikes, full width, blanks and accents between the letters make no difference.

Where a text is not plain, the places at which a token could begin are first spelled in plain letters, one for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ringfence.sanitise import role_drawing
from ringfence.sanitise.edits import Edit
from ringfence.sanitise.lookalikes import folds
from ringfence.sanitise.role_drawing import FIRST, LONGEST_NAME, LONGEST_TOKEN
from ringfence.sanitise.role_table import ROLE_TOKENS
from ringfence.sanitise.search import search

KIND = "role_token"

# Blanks of every width, and what a letter can wear: between the letters of a token both count as a blank.
_BLANKS = "\u00a0\u0300-\u036f\u1680\u180e\u2000-\u200d\u202f\u205f\u2060\u3000\ufe00-\ufe0f"
# A line may be quoted, listed or emphasised before its label, and no more.
_LINE_BEGINS = re.compile(r"(?:\A|\n|[.!?\u3002\]>]\s)[^\w\n]{0,12}\Z")
_LINE_ENDS = re.compile(r"[ \t]*(?:\r?\n|\Z)")
_FURTHEST_BACK = 16
# Which weak labels together are a conversation.
_ASKS, _ANSWERS = frozenset({"user"}), frozenset({"ai", "bot", "chatgpt"})
_TO_A_MODEL = re.compile(r"[\s*_]*(?:\Z|\n|(?:you|your|ignore|disregard|forget)\b)", re.IGNORECASE)
_LONGEST_LABEL = 40
# A name of so few letters is also a variable.
_SHORT = 3


class _Token(NamedTuple):
    """A token where it was found, in plain letters."""

    start: int
    end: int
    row: str
    plain: str

    @property
    def name(self) -> str:
        return _bare(self.plain)


@lru_cache(maxsize=1024)
def _bare(token: str) -> str:
    """The name alone: nothing is left of it by which a token could be told."""
    return re.sub(r"\W+", "", token).strip("_").casefold()[:LONGEST_NAME] or "unnamed"


def tokens(text: str) -> Sequence[Edit]:
    """Every role token, replaced by its name in brackets."""
    if text.isascii() and next(search(_anything()).finditer(text.encode()), None) is None:
        return ()
    spelled = [(0, text)] if text.isascii() else list(_plain_parts(text))
    found = [token for at, plain in spelled for token in _found(plain, at=at, pattern=_delimited())]
    labels = [token for at, plain in spelled for token in _found(plain, at=at, pattern=_labels())]
    counted = [token for token in found if token.row not in _BY_PLACE or _BY_PLACE[token.row](text, token)]
    return _edits(sorted(counted + _turns(text, labels))) if counted or labels else ()


def _found(plain: str, *, at: int, pattern: re.Pattern[str]) -> Iterator[_Token]:
    for match in pattern.finditer(plain):
        yield _Token(at + match.start(), at + match.end(), match.lastgroup or "", match[0])


def _edits(found: Sequence[_Token]) -> list[Edit]:
    edits: list[Edit] = []
    for token in found:
        if not edits or token.start >= edits[-1].end:
            edits.append(Edit(token.start, token.end, KIND, f"[role: {token.name}]", token.row))
    return edits


def _turns(text: str, labels: Sequence[_Token]) -> list[_Token]:
    """The labels that open a turn; a word that also names a field needs more to say so than its colon."""
    first = [label for label in labels if _begins_a_line(text, label.start)]
    names = {label.name for label in first}
    talk = any(label.row == "label" for label in first) or not (names.isdisjoint(_ASKS) or names.isdisjoint(_ANSWERS))
    return [label for label in first if talk or label.row == "label" or _TO_A_MODEL.match(text, label.end)]


def _begins_a_line(text: str, at: int) -> bool:
    return at == 0 or _LINE_BEGINS.search(text, max(at - _FURTHEST_BACK, 0), at) is not None


def _is_no_heading(text: str, token: _Token) -> bool:
    """Alone in its line, before a colon, or anywhere but first in a line, where no heading can be."""
    return token.plain.endswith(":") or _LINE_ENDS.match(text, token.end) is not None or not _is_first(text, token)


def _is_no_blank_to_fill_in(text: str, token: _Token) -> bool:
    """`<user>` is one, unless it is first in its line; `a < s > b` compares; `List<User>` and `<S>` name types."""
    if len(token.name) <= _SHORT:
        return token.plain[1] != " " and token.plain.islower()
    if token.plain != token.plain.lower() and text[token.start - 1 : token.start].isalnum():
        return False
    return token.name != "user" or _is_first(text, token)


def _is_first(text: str, token: _Token) -> bool:
    before = text[max(token.start - _FURTHEST_BACK, 0) : token.start]
    return not before.rpartition("\n")[2].strip()


def _is_alone(text: str, token: _Token) -> bool:
    return _is_first(text, token) and _LINE_ENDS.match(text, token.end) is not None


def _is_no_month(_text: str, token: _Token) -> bool:
    """`[Sep]` is one; the special tokens are in upper case."""
    return len(token.name) > _SHORT or token.plain.isupper()


_BY_PLACE: dict[str, Callable[[str, _Token], bool]] = {
    "heading": _is_no_heading,
    "rule": _is_alone,
    "square": _is_no_month,
    "tag": _is_no_blank_to_fill_in,
}


def _plain_parts(text: str) -> Iterator[tuple[int, str]]:
    """The parts of a text in which a token could stand, each with its place, in plain letters one for one."""
    start, end = 0, min(_LONGEST_LABEL, len(text))
    for begins in _beginnings().finditer(text):
        if begins.start() > end + 2:
            yield start, text[start:end].translate(_plain())
            start = max(begins.start() - 2, end)
        end = min(begins.end() + (LONGEST_TOKEN if begins["token"] is not None else 2), len(text))
    yield start, text[start:end].translate(_plain())


@lru_cache(maxsize=1)
def _delimited() -> re.Pattern[str]:
    return re.compile(role_drawing.delimited(ROLE_TOKENS))


@lru_cache(maxsize=1)
def _labels() -> re.Pattern[str]:
    return re.compile(role_drawing.labels(ROLE_TOKENS))


@lru_cache(maxsize=1)
def _anything() -> str:
    """Both as one search in linear time, since most text holds neither."""
    return f"{role_drawing.loosely(_delimited().pattern)}|{role_drawing.loosely(_labels().pattern)}"


@lru_cache(maxsize=1)
def _plain() -> dict[int, str]:
    blanks = (chr(point) for point in range(0x80, 0x10000) if re.match(f"[{_BLANKS}]", chr(point)))
    return folds() | {ord(char): " " for char in blanks}


@lru_cache(maxsize=1)
def _beginnings() -> re.Pattern[str]:
    """A first character of a token, or what begins a line and has a colon soon; drawn in whatever way."""
    alike: dict[str, str] = {}
    for point, plain in folds().items():
        alike[plain] = alike.get(plain, "") + chr(point)
    firsts = "".join(re.escape(char) + alike.get(char, "") for char in sorted(set(FIRST.values()) - {">"}))
    colons = ":" + alike[":"]
    label = rf"[^\w\n{firsts}]{{0,12}}+\w[\w *{_BLANKS}]{{0,{_LONGEST_LABEL}}}?[{colons}]"
    return re.compile(rf"[{firsts}>\n.!?\u3002](?:(?P<token>(?<=[{firsts}])(?!\s?\d)|(?<=>)>)|{label})")
