"""Whether a value was drawn by a machine or written by a person.

Takes: the value of an assignment.  Gives: yes or no.  Never: weighs the place it stands in.

A drawn value changes between lower case, upper case and digits about every second character; words, paths and names of
variables seldom do. That holds for short values too, where entropy says nothing.
"""

from __future__ import annotations

import re

# Of neighbouring characters, the share that differ in class.
_DRAWN = 0.22
_DRAWN_WITHOUT_DIGITS = 0.35
# A time in milliseconds has thirteen digits.
_LONG = 15
# Nobody writes so many characters with so many digits among them.
_TOO_LONG_TO_WRITE = 32
_DIGITS_AMONG = 1 / 8
_LONG_WITHOUT_DIGITS = 20
_FEWEST_DIFFERENT = 5

_UUID = re.compile(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_CHANGES = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_REFERENCE = re.compile(
    r"[$%{<*#&@]|\.{0,2}/|[a-z][a-z0-9+.-]*://|(?i:process|os|env|self|this|config|settings|secrets|vars|data|var)\."
)
_PLACEHOLDER = re.compile(
    r"(?i)(?:pass(?:word|wd)?|pwd|pw|secret|user(?:name)?|token|key|x+|\*+|\.+|%[sdv]|none|null|changeme|example)\Z"
)


def is_drawn(value: str) -> bool:
    """Whether the value looks drawn at random."""
    if _REFERENCE.match(value) or len(set(value)) < _FEWEST_DIFFERENT:
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    if not letters:
        return digits == len(value) >= _LONG
    if _UUID.match(value) or (len(value) >= _TOO_LONG_TO_WRITE and digits >= len(value) * _DIGITS_AMONG):
        return True
    share = len(_CHANGES.findall(value)) / (len(value) - 1)
    return share >= _DRAWN if digits else len(value) >= _LONG_WITHOUT_DIGITS and share >= _DRAWN_WITHOUT_DIGITS


def is_placeholder(value: str) -> bool:
    """Whether the value only shows where a credential would stand."""
    return _REFERENCE.match(value) is not None or _PLACEHOLDER.match(value) is not None
