"""Plain JSON values, and nothing that only looks like one.

Takes: Python values from a caller or JSON text from a stranger.  Gives: plain JSON data, bounded in depth and size.
Never: keeps a reference to what the caller handed over, so nothing can change after it was checked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NoReturn

from ringfence.contract.bounds import DEPTH, INPUT_BYTES, SAFE_INTEGER

# The exact class, which a value cannot lie about; a `cast` would be a call more for every value in a text.
_kind_of: Callable[[object], type[object]] = type


class NotPlain(ValueError):
    """The value is not plain, bounded JSON; the message says where and why, `problem` only why.

    Where it is can only be said in the value's own keys, so a value that nobody may see is described by its problem.
    """

    def __init__(self, problem: str, *, where: str = "") -> None:
        super().__init__(f"{where} {problem}" if where else problem)
        self.problem = problem


def require_plain(value: Any, *, depth: int = DEPTH) -> None:
    """Raise unless the value is made of JSON's own types, finite, in range and not too deep."""
    _require(value, where="arguments", depth=depth)


def _require(value: Any, *, where: str, depth: int) -> None:
    if depth < 0:
        raise NotPlain("is nested too deeply", where=where)
    kind = _kind_of(value)
    if value is None or kind is bool:
        return
    if kind is str:
        _require_encodable(value, where=where)
    elif kind is int:
        if abs(value) > SAFE_INTEGER:
            raise NotPlain("is an integer beyond ±(2⁵³-1)", where=where)
    elif kind is float:
        if not math.isfinite(value):
            raise NotPlain("is not a finite number", where=where)
    elif kind is list:
        for index, item in enumerate(value):
            _require(item, where=f"{where}[{index}]", depth=depth - 1)
    elif kind is dict:
        _require_members(value, where=where, depth=depth)
    else:
        raise NotPlain(f"is a Python `{kind.__name__}`, not JSON", where=where)


def _require_members(value: dict[Any, Any], *, where: str, depth: int) -> None:
    for key, item in value.items():
        if type(key) is not str:
            raise NotPlain("has a key that is not a string", where=where)
        _require_encodable(key, where=f"a key of {where}")
        _require(item, where=f"{where}.{key[:64]}", depth=depth - 1)


def _require_encodable(text: str, *, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotPlain("has an unpaired surrogate in it", where=where) from None


def parse_json(text: str | bytes, *, size: int = INPUT_BYTES, depth: int = DEPTH) -> Any:
    """JSON text from a stranger: bounded, no duplicate keys, no NaN, no number that Python would read as infinite."""
    if len(text) > size:
        raise NotPlain(f"the JSON text is longer than {size} bytes")
    try:
        value = _read_stranger(_as_text(text))
    except NotPlain:
        raise
    except (ValueError, RecursionError) as error:
        raise NotPlain(f"not valid JSON: {type(error).__name__}") from None
    require_plain(value, depth=depth)
    return value


def read_canonical(spelled: bytes | str) -> Any:
    """What `canonical` spelled, as it was: a large number that it spelled without a point is still no integer."""
    text = spelled if isinstance(spelled, str) else spelled.decode()
    value, end = _read_own(text)
    if end != len(text):
        raise ValueError("more follows what was spelled")
    return value


def _integer_or_number(digits: str) -> int | float:
    number = int(digits)
    return number if abs(number) <= SAFE_INTEGER else float(digits)


def _as_text(text: str | bytes) -> str:
    # Left to itself the reader would guess at UTF-16 and UTF-32, and let surrogates pass.
    return text if isinstance(text, str) else text.decode("utf-8")


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotPlain("a key occurs twice in one object")
    return members


def _no_constant(name: str) -> NoReturn:
    raise NotPlain(f"`{name}` is not JSON")


def _bounded_integer(digits: str) -> int:
    if len(digits) > len(str(SAFE_INTEGER)) + 1:
        raise NotPlain("an integer is beyond ±(2⁵³-1)")
    return int(digits)


# Made once: `json.loads` makes a decoder for every text that is read in a way of its own.
_read_own = json.JSONDecoder(parse_int=_integer_or_number).raw_decode
_read_stranger = json.JSONDecoder(
    object_pairs_hook=_unique_members, parse_constant=_no_constant, parse_int=_bounded_integer
).decode
