"""How one known value may be spelled in a text: as it is, escaped, encoded, or backwards.

Takes: the value.  Gives: patterns for RE2, over bytes.  Never: matches a text that does not hold all of the value.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

# A long value is looked for in parts of this many characters: each part is telling by itself.
PART = 48
_LEAST_PART = 8
_NAMED = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_WORDED = {"\n": r"\\{1,4}n", "\r": r"\\{1,4}r", "\t": r"\\{1,4}t"}
# Where a long line of Base64 is broken, as it is or within JSON.
_BREAK = r"(?:\r?\n|\\r\\n|\\n)?"
_BASE64_PAIRS = {"+": "[+-]", "/": r"(?:\\?/|_)", "=": "="}
_ONE_BYTE = {"+": "[+-]", "/": "[/_]"}
# The widest spelling of one byte: `\\\\u00e9`, or a percent sign that was itself escaped.
WIDEST = 16


# What the spellings of any value can begin with, beside its own letters; and what can only stand between letters.
_OF_CODES = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/-_%\\&#;"
_BETWEEN = b":= \r\n"


def bytes_of(value: str) -> tuple[bytes, bytes]:
    """The bytes that some spelling of the value can begin with, and those that can only follow."""
    begins = bytes({*_OF_CODES, *value.encode()})
    return begins, bytes(set(_BETWEEN) - set(begins))


def parts_of(value: str) -> list[str]:
    """The value in parts that are each long enough to be told from ordinary text."""
    cuts = range(0, max(len(value) - _LEAST_PART + 1, 1), PART)
    ends = [*list(cuts)[1:], len(value)]
    return [value[start:end] for start, end in zip(cuts, ends, strict=True)]


def base64_spellings(part: str) -> Iterator[str]:
    """In Base64, at each of the three places where it can begin; its first and last letters are shared with others."""
    for before in range(3):
        yield _BREAK.join(map(_base64_letter, _base64(part.encode(), before=before)))


def base64_letters(part: str) -> Iterator[str]:
    """The same on one line, each letter a pattern of one byte."""
    for before in range(3):
        yield "".join(_ONE_BYTE.get(letter, letter) for letter in _base64(part.encode(), before=before))


def spellings(part: str) -> Iterator[str]:
    """Every other pattern under which this part of a value is found."""
    yield "".join(map(_letter, part))
    yield "".join(_escaped(letter.encode()) for letter in reversed(part))
    raw = part.encode()
    yield "(?i:" + "[: -]?".join(f"{byte:02x}" for byte in raw) + ")"


def _letter(letter: str) -> str:
    """One character in whatever way a text may write it: plain, percent, JSON, a backslash code, HTML."""
    raw = letter.encode()
    ways = [_escaped(raw), "(?i:" + "".join(f"%(?:25)?{byte:02x}" for byte in raw) + ")"]
    units = letter.encode("utf-16-be").hex()
    ways.append(r"(?i:" + "".join(rf"\\{{1,4}}u{units[at : at + 4]}" for at in range(0, len(units), 4)) + ")")
    ways.append(r"(?i:" + "".join(rf"\\{{1,4}}x{byte:02x}" for byte in raw) + ")")
    if 0x80 <= ord(letter) <= 0xFF:
        ways.append(rf"(?i:\\{{1,4}}x{ord(letter):02x})")
    ways.append(rf"\\{{1,4}}(?i:U{ord(letter):08x})")
    ways.append(rf"&#(?:0{{0,4}}{ord(letter)}|(?i:x0{{0,4}}{ord(letter):x}));")
    if letter in _NAMED:
        ways.append(f"&{_NAMED[letter]};")
    if letter in _WORDED:
        ways.append(_WORDED[letter])
    if letter == " ":
        ways.append(r"\+")
    if not letter.isalnum():
        ways.append(rf"\\{{1,4}}{_escaped(raw)}")
    return "(?:" + "|".join(ways) + ")"


def _escaped(raw: bytes) -> str:
    return "".join(chr(byte) if chr(byte).isalnum() and byte < 0x80 else f"\\x{byte:02x}" for byte in raw)


def _base64(raw: bytes, *, before: int) -> str:
    """The letters of Base64 that this value alone decides, where so many bytes stand before it in its group."""
    first, last = -(-8 * before // 6), 8 * (before + len(raw)) // 6
    return base64.b64encode(bytes(before) + raw).decode()[first:last]


def _base64_letter(letter: str) -> str:
    return _BASE64_PAIRS.get(letter) or re.escape(letter)
