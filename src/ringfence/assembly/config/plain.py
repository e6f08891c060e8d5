"""Plain values as a config file holds them, and the mark for one that could not be used.

Takes: nothing.  Gives: `INVALID` and the tests for mappings, lists and texts.  Never: tells why; the report does.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, TypeGuard


class _Invalid(Enum):
    INVALID = "invalid"

    def __repr__(self) -> str:
        return "INVALID"


INVALID: Final = _Invalid.INVALID


def is_mapping(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list | tuple)


def text_problem(text: str) -> str | None:
    """What keeps a text from being written down again, if anything does."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "text with an unpaired surrogate"
    return None
