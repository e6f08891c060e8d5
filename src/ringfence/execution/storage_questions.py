"""Questions about rows as a jail sends them: every byte is hostile, and one that does not fit is not half understood.

Takes: the body of a frame.  Gives: a `Question`, or `Unfit` with what is wrong in words of our own.
Never: repeats a word that the jail chose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from ringfence.contract.fingerprint import canonical
from ringfence.contract.values import NotPlain, parse_json
from ringfence.errors import CallFailed
from ringfence.execution.storage import SCOPES, Scope
from ringfence.inside.storage_wire import MOST_KEY_BYTES, MOST_QUESTION, QUESTIONS

VALUE_DEPTH = 32
LONGEST = timedelta(days=3_650)
_ALWAYS = frozenset({"number", "ask", "scope"})
_MOST_NUMBER = 1 << 32
Weight: TypeAlias = Literal["ordinary", "grave"]


class Unfit(CallFailed):
    """A question that will not be answered; grave where an operator should know that it was asked."""

    def __init__(self, message: str, *, code: str = "tool_error", weight: Weight = "ordinary") -> None:
        super().__init__(message, code=code)
        self.weight: Weight = weight


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question: what about which key of which scope; values in JSON's one spelling."""

    number: int
    ask: str
    scope: Scope
    key: str = ""
    prefix: str = ""
    after: str = ""
    value: str = "null"
    expected: str = "null"
    lasts: timedelta | None = None


def read_question(body: bytes) -> Question:
    """The one meaning of a question."""
    said = _parsed(body)
    ask, number = said.get("ask"), said.get("number")
    if type(ask) is not str or ask not in QUESTIONS or frozenset(said) != _ALWAYS | QUESTIONS[ask]:
        raise _malformed("a question that there is not")
    if type(number) is not int or not 0 < number <= _MOST_NUMBER:
        raise _malformed("a question without a number")
    value = said.get("new") if ask == "compare_and_set" else said.get("value")
    return Question(
        number=number,
        ask=ask,
        scope=_scope(said["scope"]),
        key=_key(said["key"]) if "key" in said else "",
        prefix=_part(said.get("prefix", "")),
        after=_part(said.get("after", "")),
        value=_spelled(value),
        expected=_spelled(said.get("expected")),
        lasts=_lasts(said.get("ttl")),
    )


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        said = parse_json(body, size=MOST_QUESTION, depth=VALUE_DEPTH + 1)
    except NotPlain as problem:
        # An author's value can be too deep or too large a number; what is no JSON at all came from no client of ours.
        raise Unfit(f"`ctx.storage` keeps plain JSON alone: {problem.problem}") from None
    if type(said) is not dict:
        raise _malformed("a question that is no object")
    return said  # pyright: ignore[reportUnknownVariableType]


def _malformed(what: str) -> Unfit:
    return Unfit(f"{what} was asked of storage", code="protocol_error", weight="grave")


def _scope(scope: Any) -> Scope:
    for known in SCOPES:
        if scope == known:
            return known
    raise Unfit("a scope of storage is `tool`, `session` or `agent`", code="not_available", weight="grave")


def _key(key: Any) -> str:
    if type(key) is not str or not key or len(key.encode()) > MOST_KEY_BYTES:
        raise Unfit(f"a key of storage is a text of 1 to {MOST_KEY_BYTES} bytes")
    if any(ord(each) < 32 or ord(each) == 127 for each in key):
        raise Unfit("a key of storage has no control characters")
    return key


def _part(text: Any) -> str:
    if type(text) is not str or len(text.encode()) > MOST_KEY_BYTES or "\0" in text:
        raise Unfit(f"a prefix of keys is a text of at most {MOST_KEY_BYTES} bytes")
    return text


def _spelled(value: Any) -> str:
    return canonical(value).decode()


def _lasts(ttl: Any) -> timedelta | None:
    if ttl is None:
        return None
    if type(ttl) not in (int, float) or not math.isfinite(ttl) or not 0 < ttl <= LONGEST.total_seconds():
        raise Unfit(f"`ttl` is a number of seconds above 0, and at most {LONGEST.days} days")
    # A time is kept in whole microseconds, and a row that would not last one of them was never there.
    return max(timedelta(seconds=ttl), timedelta(microseconds=1))
