"""Finds what a page names: a symbol by its dotted path, a rule by its SQL file, a test by its file.

Takes: a name as a page writes it.  Gives: whether it exists.  Never: guesses.
"""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path

from tests.acceptance.docs.pages import ROOT

MIGRATIONS = ROOT / "src" / "ringfence" / "store" / "sql" / "sqlite" / "migrations"


def is_symbol(dotted: str) -> bool:
    """Whether a dotted path under `ringfence` leads to a module or a name in one."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        return _walk(found, parts[cut:])
    return False


def _walk(found: object, rest: list[str]) -> bool:
    for name in rest:
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True


def is_trigger(name: str) -> bool:
    """Whether a migration of the store makes a trigger of this name."""
    return any(f"CREATE TRIGGER {name} " in file.read_text(encoding="utf-8") for file in MIGRATIONS.glob("*.sql"))


def is_test(where: str) -> bool:
    """Whether `folder/test_x.py::test_y` is a test function under `tests/`."""
    path, separator, name = where.partition("::")
    file = ROOT / "tests" / path
    return bool(separator) and file.is_file() and name in _functions(file)


@cache
def _functions(file: Path) -> frozenset[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
