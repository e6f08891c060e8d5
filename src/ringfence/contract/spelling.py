"""JSON is spelled by encoders that are made once: the standard one makes its own anew for every text.

Takes: how letters, keys and marks are to be spelled.  Gives: a function from JSON values to text.
Never: spells anything in another way than `json.JSONEncoder` with the same settings.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json import encoder
from typing import Any, Literal, TypeAlias

Spell: TypeAlias = Callable[[Any], str]

# The part of the standard library that is written in C; without it, the encoder does the same work in Python.
_in_c: Any = getattr(encoder, "c_make_encoder", None)


def speller(
    *, letters: Literal["as they are", "ascii"], keys: Literal["sorted", "as given"], marks: tuple[str, str]
) -> Spell:
    """An encoder for many texts; `marks` stand between items and after a key."""
    between, after_key = marks
    standard = json.JSONEncoder(
        ensure_ascii=letters == "ascii", sort_keys=keys == "sorted", separators=marks, check_circular=False
    )
    if _in_c is None:
        return standard.encode
    word = encoder.encode_basestring_ascii if letters == "ascii" else encoder.encode_basestring
    pieces = _in_c(None, standard.default, word, None, after_key, between, keys == "sorted", False, True)
    return lambda value: "".join(pieces(value, 0))
