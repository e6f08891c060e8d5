"""Plain words in YAML, read the YAML 1.2 way: `no` is a word, `1:30` is a text, `010` is ten.

Takes: one unquoted scalar.  Gives: text, number, true, false or nothing.
Never: makes a date, an infinity, or a number that JSON cannot carry.
"""

from __future__ import annotations

import math
import re

from ringfence.contract.bounds import SAFE_INTEGER

Scalar = str | int | float | bool | None

_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_BASES = {"0o": 8, "0x": 16}
_LONGEST_NUMBER = 64


class NotAScalar(ValueError):
    """A number that cannot be meant."""


def read_plain(text: str) -> Scalar:
    """The value of an unquoted scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise NotAScalar("a number must be finite")
    if _INTEGER.fullmatch(text):
        return _integer(text)
    return _real(text) if _FLOAT.fullmatch(text) else text


def _integer(text: str) -> int:
    base = _BASES.get(text[:2], 10)
    value = int(text[2:] if base != 10 else text, base) if len(text) <= _LONGEST_NUMBER else SAFE_INTEGER + 1
    if abs(value) > SAFE_INTEGER:
        raise NotAScalar("a whole number must lie within ±(2**53 - 1)")
    return value


def _real(text: str) -> float:
    value = float(text) if len(text) <= _LONGEST_NUMBER else math.inf
    if not math.isfinite(value):
        raise NotAScalar("a number must be finite and at most 64 characters long")
    return value
