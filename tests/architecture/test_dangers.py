"""Source holds none of the calls that turn text into code, and swallows no error."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import modules

# fmt: off
UNSAFE_MODULES = {
    "pickle": "loading runs code", "marshal": "loading runs code", "shelve": "is pickle", "dill": "is pickle",
    "cloudpickle": "is pickle", "joblib": "is pickle", "pty": "gives a shell", "code": "gives an interpreter",
}
UNSAFE_CALLS = {
    "eval": "runs text", "exec": "runs text", "os.system": "runs a shell", "os.popen": "runs a shell",
    "subprocess.getoutput": "runs a shell", "subprocess.getstatusoutput": "runs a shell",
    "asyncio.create_subprocess_shell": "runs a shell",
}
# fmt: on
# The only place where text becomes code: the tool whose purpose that is, and which no host process ever runs.
ON_PURPOSE = {"src/ringfence/tools/python_code.py": ["exec", "eval"]}


def unsafe(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in UNSAFE_MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            dotted = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in dotted if name in UNSAFE_CALLS or name.split(".")[0] in UNSAFE_MODULES)
        elif isinstance(node, ast.Call):
            if (name := ast.unparse(node.func)) in UNSAFE_CALLS:
                yield name
            yield from (
                "shell=" for keyword in node.keywords if keyword.arg == "shell" and not _is_false(keyword.value)
            )


def silent(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            if node.type is None:
                yield f"line {node.lineno}: bare except"
            elif all(_says_nothing(statement) for statement in node.body):
                yield f"line {node.lineno}: silent except"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"suppress", "contextlib.suppress"}:
            broad = {"Exception", "BaseException"} & {ast.unparse(argument) for argument in node.args}
            yield from (f"line {node.lineno}: suppress({name})" for name in broad)


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _says_nothing(statement: ast.stmt) -> bool:
    is_ellipsis = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_ellipsis or isinstance(statement, ast.Pass | ast.Continue)


@pytest.mark.req("HOUSE-7")
def test_no_source_turns_text_into_code() -> None:
    assert {module.name: found for module in modules() if (found := list(unsafe(module.tree)))} == ON_PURPOSE


@pytest.mark.req("HOUSE-8")
def test_no_source_swallows_an_error() -> None:
    assert {module.name: found for module in modules() if (found := list(silent(module.tree)))} == {}


@pytest.mark.req("HOUSE-7")
@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "eval(x)",
        "exec(x)",
        "import os\nos.system(x)",
        "from os import system",
        "run(x, shell=True)",
        "run(x, shell=flag)",
    ],
)
def test_each_danger_is_seen(text: str) -> None:
    assert list(unsafe(ast.parse(text)))


@pytest.mark.req("HOUSE-8")
@pytest.mark.parametrize(
    "text",
    [
        "try: f()\nexcept: raise",
        "try: f()\nexcept OSError: pass",
        "try: f()\nexcept OSError: ...",
        "for x in y:\n try: f()\n except OSError: continue",
        "with suppress(Exception): f()",
    ],
)
def test_each_silence_is_heard(text: str) -> None:
    assert list(silent(ast.parse(text)))
