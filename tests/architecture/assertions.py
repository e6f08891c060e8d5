"""Which tests look at nothing, read from the test files without running them.

Takes: a folder of tests.  Gives: the test functions without a visible assertion.
Never: follows a call; whoever reads a test sees that it asserts, or calls a function whose name says that it does.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.marks import FUNCTIONS

ASSERTING = ("assert_", "expect_")
LOOKING = {"raises", "warns", "fail"}


def blind_under(folder: Path) -> list[str]:
    """Every test beneath `folder` that asserts nothing anybody can see."""
    files = sorted(folder.rglob("*.py"))
    return [each for path in files for each in blind_in(path.read_text(encoding="utf-8"), name=path.name)]


def blind_in(text: str, *, name: str) -> list[str]:
    """The same, in one file's text."""
    nodes = ast.walk(ast.parse(text, filename=name))
    tests = [node for node in nodes if isinstance(node, FUNCTIONS) and node.name.startswith("test_")]
    return [f"{name}::{test.name}" for test in tests if not any(map(_looks, ast.walk(test)))]


def hollow_in(text: str, *, name: str) -> list[str]:
    """Functions that are named for asserting and neither assert, raise, nor call one that does."""
    nodes = ast.walk(ast.parse(text, filename=name))
    named = [node for node in nodes if isinstance(node, FUNCTIONS) and node.name.startswith(ASSERTING)]
    return [f"{name}::{each.name}" for each in named if not any(map(_judges, ast.walk(each)))]


def hollow_under(folder: Path) -> list[str]:
    files = sorted(folder.rglob("*.py"))
    return [each for path in files for each in hollow_in(path.read_text(encoding="utf-8"), name=path.name)]


def _judges(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise) or _looks(node)


def _looks(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return called in LOOKING or called.startswith(ASSERTING)
