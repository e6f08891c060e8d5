"""Real texts, good and bad, from a folder beside the project.

Takes: the folder that `RINGFENCE_CORPORA` names.  Gives: rows, and the half that each belongs to.
Never: makes up a row; where a file is absent there is none.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bench.harness.python import ROOT

FOLDER = Path(os.environ.get("RINGFENCE_CORPORA", ROOT.parent / "shared" / "corpora"))

Half = Literal["worked", "kept"]


class Count(NamedTuple):
    """How many rows of how many, in the half that rules were made with and in the half that was kept apart."""

    worked: tuple[int, int]
    kept: tuple[int, int]

    @property
    def rows(self) -> int:
        return self.worked[0] + self.kept[0]

    @property
    def of(self) -> int:
        return self.worked[1] + self.kept[1]

    @property
    def percent(self) -> float:
        return 100 * self.rows / self.of

    def __str__(self) -> str:
        halves = f"worked with {self.worked[0]} of {self.worked[1]}, kept apart {self.kept[0]} of {self.kept[1]}"
        return f"{self.rows:,} of {self.of:,} ({halves})"


def rows(name: str) -> list[dict[str, Any]]:
    path = FOLDER / f"{name}.jsonl"
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def half(row: dict[str, Any]) -> Half:
    """By a hash of the row's id, so that it stays the same however the file is ordered."""
    return "kept" if hashlib.sha256(row["id"].encode()).digest()[-1] % 2 else "worked"


def counted(listed: Iterable[dict[str, Any]], *, holds: Callable[[dict[str, Any]], bool]) -> Count:
    """The rows for which it holds."""
    tally: dict[Half, list[int]] = {"worked": [0, 0], "kept": [0, 0]}
    for row in listed:
        half_of_row = tally[half(row)]
        half_of_row[0] += holds(row)
        half_of_row[1] += 1
    return Count((tally["worked"][0], tally["worked"][1]), (tally["kept"][0], tally["kept"][1]))
