"""What is wrong in a config file, and where: file, line, column, key.

Takes: faults as they are found.  Gives: one report, in the order of the file.
Never: lets a value into a message unless the writer needs to see that word, and then clipped and printable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ringfence.errors import CODES, ConfigInvalid, RingfenceError

KeyPath: TypeAlias = tuple[str | int, ...]

MOST_PROBLEMS = 200
_LONGEST_PATH = 4_096
_LONGEST_WORD = 80
_LONGEST_MESSAGE = 600


class Mark(NamedTuple):
    """A place in the text, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where each key stands. Config from code has no file, and its marks only keep the order."""

    file: str | None
    marks: Mapping[KeyPath, Mark]

    def mark(self, path: KeyPath) -> Mark:
        """The place of a key, or of the nearest one around it."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.marks:
                return self.marks[path[:length]]
        return Mark(line=1, column=1)

    def written(self, path: KeyPath) -> bool:
        """Whether the key stands in the file, and is not a default."""
        return path in self.marks

    def locate(self, path: KeyPath, *, mark: Mark | None = None) -> str:
        """The beginning of every message about a key, like ``ringfence.yaml:3:5: `agents.ana` ``."""
        at = mark or self.mark(path)
        key = f"`{spell(path)}`" if path else ""
        place = "" if self.file is None else f"{self.file}:{at.line}:{at.column}"
        return ": ".join(part for part in (place, key) if part)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One fault; `place` says where, `remedy` what to write instead."""

    place: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        said = f"{self.message}; {self.remedy}" if self.remedy else self.message
        return f"{self.place}: {said}" if self.place else said


_Found: TypeAlias = tuple[Mark, Problem]


class TooManyProblems(Exception):
    """The report is full; reading on would help nobody."""


class Report:
    """Collects every problem of one load."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self._errors: list[_Found] = []
        self._warnings: list[_Found] = []

    def error(self, path: KeyPath, message: str, *, remedy: str = "", mark: Mark | None = None) -> None:
        self._add(self._errors, path, message, remedy=remedy, mark=mark)
        if len(self._errors) >= MOST_PROBLEMS:
            raise TooManyProblems

    def refused(self, path: KeyPath, error: Exception, *, mark: Mark | None = None) -> None:
        """A domain value would not be made; its own words are the message."""
        if isinstance(error, RingfenceError):
            own = error.remedy if error.remedy != CODES[error.code].remedy else ""
            self.error(path, error.message, remedy=own, mark=mark)
        else:
            self.error(path, str(error), mark=mark)

    def warn(self, path: KeyPath, message: str, *, remedy: str = "") -> None:
        self._add(self._warnings, path, message, remedy=remedy, mark=None)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return _in_order(self._warnings)

    def require_clean(self) -> None:
        """Raise with every error, in the order of the file."""
        if not self._errors:
            return
        lines = [str(problem) for problem in _in_order(self._errors)]
        if len(lines) >= MOST_PROBLEMS:
            lines.append("there are more problems than are listed here")
        raise ConfigInvalid(tuple(lines))

    def _add(self, found: list[_Found], path: KeyPath, message: str, *, remedy: str, mark: Mark | None) -> None:
        place = self.places.locate(path, mark=mark)
        problem = Problem(place=place, message=_clip(message, _LONGEST_MESSAGE), remedy=_clip(remedy, _LONGEST_MESSAGE))
        found.append((mark or self.places.mark(path), problem))


def _in_order(found: list[_Found]) -> tuple[Problem, ...]:
    return tuple(problem for _, problem in sorted(found, key=lambda entry: entry[0]))


def spell(path: KeyPath) -> str:
    """A key path as people read it: `policy.rules[0].because`."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{shown(key)}" if text else shown(key)
    return text


def shown(word: str) -> str:
    """A word from the file, clipped, with nothing in it that a terminal would act on."""
    return _clip(word, _LONGEST_WORD)


def shown_file(file: Path) -> str:
    """A file's path, whole: a clipped one could not be opened."""
    return _clip(str(file), _LONGEST_PATH)


def _clip(text: str, most: int) -> str:
    clipped = text if len(text) <= most else text[:most] + "…"
    if clipped.isprintable():
        return clipped
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in clipped)
