"""The shapes a config value can have; the loader, the editor's schema and the reference page all read these.

Takes: nothing.  Gives: frozen descriptions.  Never: holds a value of anybody's config.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias


class _Unset(Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset.UNSET


@dataclass(frozen=True, kw_only=True)
class Text:
    """A text. `check` raises where it is not what `says` says; `pattern` is as much of that as an editor can know."""

    says: str
    pattern: str | None = None
    check: Callable[[str], object] | None = None


@dataclass(frozen=True, kw_only=True)
class Word:
    """One of a few words."""

    choices: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number within bounds; a whole one unless `fraction` says otherwise."""

    least: float
    most: float
    fraction: bool = False


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A list of one kind of thing. `single`: one of them may stand without the list."""

    item: Shape
    least: int = 0
    single: bool = False


@dataclass(frozen=True, kw_only=True)
class Named:
    """A mapping whose keys are names that the operator chooses; `check` judges a name with its value."""

    name: Text
    value: Shape
    check: Callable[[str, Any], object] | None = None


@dataclass(frozen=True, kw_only=True)
class Open:
    """Any plain value: an argument of a call, or what one is compared with."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key of a record: its shape, what it means, and what holds where it is left out."""

    shape: Shape
    means: str
    default: Any = UNSET
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Record:
    """A mapping with known keys and no others, at least and at most so many of them."""

    keys: Mapping[str, Key]
    least: int = 0
    most: int | None = None


Shape: TypeAlias = Text | Word | Number | Listing | Named | Open | Record
