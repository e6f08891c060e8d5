"""How a credential is told by its own spelling: one row of the tables beside this file.

Takes: nothing.  Gives: `Format`, a row, and `written_out`, which turns a row's example into text.  Never: looks at a text.

Examples are templates: `<36>` stands for 36 letters and digits, `<h8>`, `<d8>`, `<l8>`, `<u8>` for hexadecimal, decimal, lower and
upper case. So nothing here looks like a live credential to another scanner.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ALPHABETS = {
    "": "k7Qw2RtZ9mXb4LcV8nHs3JdG6pFy5TqW1vBz0NrK",
    "h": "3f9a0c7e51b8d264",
    "d": "8305917264",
    "l": "k7qw2rtz9mxb4lcv8nhs3jdg6pfy5t",
    "u": "K7QW2RTZ9MXB4LCV8NHS3JDG6PFY5T",
}
_BLANK = re.compile("<([hdlu]?)([0-9]+)>")


class Format(NamedTuple):
    """One spelling: `pattern` has no group and begins with what is rare; `before` stands in front of it. The rest of the last word goes too."""

    id: str
    reason: str
    pattern: str
    found: str
    passed: str
    before: str = ""


def written_out(example: str) -> str:
    """The example with every blank filled."""

    def filled(blank: re.Match[str]) -> str:
        alphabet, length = _ALPHABETS[blank[1]], int(blank[2])
        return (alphabet * (length // len(alphabet) + 1))[:length]

    return _BLANK.sub(filled, example)
