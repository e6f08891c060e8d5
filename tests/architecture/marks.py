"""Which test holds which requirement, read from the test files without running them.

Takes: a folder of tests.  Gives: one `Held` per test function.  Never: imports a test, so a broken one still counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, kw_only=True)
class Held:
    """One test, where it stands, and the requirement ids that it and its surroundings are marked with."""

    where: str
    ids: frozenset[str]


def held_under(folder: Path) -> tuple[Held, ...]:
    """Every test function of every `test_*.py` beneath `folder`."""
    files = sorted(folder.rglob("test_*.py"))
    return tuple(held for path in files for held in held_in(path.read_text(encoding="utf-8"), name=path.name))


def held_in(text: str, *, name: str) -> tuple[Held, ...]:
    """Every test function in one file's text."""
    return tuple(_walk(ast.parse(text, filename=name).body, where=name, outer=frozenset()))


def _walk(body: list[ast.stmt], *, where: str, outer: frozenset[str]) -> Iterator[Held]:
    around = outer | _pytestmark(body)
    for node in body:
        if isinstance(node, FUNCTIONS) and node.name.startswith("test_"):
            yield Held(where=f"{where}::{node.name}", ids=around | _marks_in(*node.decorator_list))
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _walk_class(node, where=f"{where}::{node.name}", outer=around)


def _walk_class(node: ast.ClassDef, *, where: str, outer: frozenset[str]) -> Iterator[Held]:
    around = outer | _marks_in(*node.decorator_list)
    if node.bases:
        # A conformance suite is inherited: its tests stand elsewhere, the ids stand here.
        yield Held(where=where, ids=around | _pytestmark(node.body))
    yield from _walk(node.body, where=where, outer=around)


def _pytestmark(body: list[ast.stmt]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for node in body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets):
            found |= _marks_in(node.value)
    return found


def _marks_in(*nodes: ast.expr) -> frozenset[str]:
    calls = (call for node in nodes for call in ast.walk(node) if isinstance(call, ast.Call))
    return frozenset(_literal(argument) for call in calls if _is_req(call.func) for argument in call.args)


def _is_req(func: ast.expr) -> bool:
    return isinstance(func, ast.Attribute) and func.attr == "req" and ast.unparse(func.value).endswith("mark")


def _literal(argument: ast.expr) -> str:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    raise AssertionError(f"a requirement id is written out, not computed: `{ast.unparse(argument)}`")
