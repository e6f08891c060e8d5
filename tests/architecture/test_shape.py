"""Source stays small, plainly named and quiet."""

from __future__ import annotations

import ast
from pathlib import PurePath

import pytest

from tests.architecture.source import comment_share, modules

MOST_LINES_A_FILE = 400
MOST_LINES_A_FUNCTION = 60
MOST_COMMENTS = 0.05
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "handler", "service"}


@pytest.mark.req("HOUSE-5")
def test_no_file_is_too_long_to_read() -> None:
    assert {module.name: module.lines for module in modules() if module.lines > MOST_LINES_A_FILE} == {}


@pytest.mark.req("HOUSE-5")
def test_no_function_is_too_long_to_read() -> None:
    long = {
        f"{module.name}::{node.name}": lines
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > MOST_LINES_A_FUNCTION
    }
    assert long == {}


@pytest.mark.req("HOUSE-5")
def test_comments_are_rare() -> None:
    assert comment_share() <= MOST_COMMENTS


@pytest.mark.req("HOUSE-6")
def test_no_module_has_a_name_that_says_nothing() -> None:
    parts = {module.name: PurePath(module.name).with_suffix("").parts for module in modules()}
    empty = [name for name, words in parts.items() if EMPTY_NAMES & {w for word in words for w in word.split("_")}]
    assert empty == []
