"""Config written as a Python dict, copied to plain values before anything is judged.

Takes: mappings, lists, tuples and scalars.  Gives: the same as the YAML reader gives, with marks that keep the order.
Never: keeps a reference to what the caller can still change.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, TypeGuard

from ringfence.assembly.config.document import DEPTH
from ringfence.assembly.config.plain import INVALID, is_list, text_problem
from ringfence.assembly.config.problems import KeyPath, Mark, Places, Report, TooManyProblems
from ringfence.contract.bounds import SAFE_INTEGER


def read_mapping(given: Mapping[str, Any]) -> tuple[Any, Report]:
    """A plain copy of the mapping; `INVALID` stands where something is not plain."""
    marks: dict[KeyPath, Mark] = {}
    report = Report(Places(file=None, marks=marks))
    try:
        return _Copier(marks=marks, report=report).value(given, path=(), depth=0), report
    except TooManyProblems:
        return INVALID, report


class _Copier:
    def __init__(self, *, marks: dict[KeyPath, Mark], report: Report) -> None:
        self._marks = marks
        self._report = report

    def value(self, given: Any, *, path: KeyPath, depth: int) -> Any:
        self._marks[path] = Mark(line=len(self._marks) + 1, column=1)
        problem = "nested too deeply" if depth > DEPTH else _scalar_problem(given)
        if problem:
            self._report.error(path, problem)
            return INVALID
        if _is_any_mapping(given):
            return self._members(given, path=path, depth=depth)
        if is_list(given):
            return [self.value(item, path=(*path, at), depth=depth + 1) for at, item in enumerate(given)]
        return os.fspath(given) if isinstance(given, PurePath) else given

    def _members(self, given: Mapping[Any, Any], *, path: KeyPath, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, item in given.items():
            if type(key) is str and not text_problem(key):
                members[key] = self.value(item, path=(*path, key), depth=depth + 1)
            else:
                self._report.error(path, "a key must be text")
        return members


def _is_any_mapping(given: Any) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(given, Mapping)


def _scalar_problem(given: Any) -> str | None:
    if given is None or isinstance(given, bool | Mapping | list | tuple):
        return None
    if type(given) is str:
        return text_problem(given)
    if type(given) is int:
        return None if abs(given) <= SAFE_INTEGER else "a whole number must lie within ±(2**53 - 1)"
    if type(given) is float:
        return None if math.isfinite(given) else "a number must be finite"
    if isinstance(given, PurePath):
        return text_problem(os.fspath(given))
    return f"a Python `{type(given).__name__}` has no place in a config"
