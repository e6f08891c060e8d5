"""`run_python` gives what the code printed, its last value, or how it failed."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.testing.unit import dangerously_call
from ringfence.tools import run_python
from ringfence.tools.python_code import MOST_CHARACTERS

pytestmark = pytest.mark.req("OPS-9")


async def run(code: str) -> dict[str, Any]:
    found: dict[str, Any] = await dangerously_call(run_python, {"code": code})
    return found


@pytest.mark.parametrize(
    ("code", "stdout", "value"),
    [
        ("1 + 1", "", "2"),
        ("x = 3\nx * 2", "", "6"),
        ("print('hello')", "hello\n", None),
        ("import sys\nprint('out')\nprint('err', file=sys.stderr)", "out\nerr\n", None),
        ("def f(n):\n    return n and n * f(n - 1) or 1\nf(5)", "", "120"),
        ("if True:\n    7", "", None),
        ("'text'", "", "'text'"),
        ("# nothing", "", None),
        ("__name__", "", "'__main__'"),
        ("x = 1\n[x for _ in range(2)]", "", "[1, 1]"),
        ("raise SystemExit", "", None),
    ],
)
async def test_code_is_run_and_its_last_line_is_its_value(code: str, stdout: str, value: str | None) -> None:
    assert await run(code) == {"stdout": stdout, "value": value, "error": None, "cut": False}


async def test_an_error_is_an_answer_and_begins_at_the_codes_own_line() -> None:
    found = await run("print('before')\ndef f():\n    return 1 / 0\nf()\n")
    assert (found["stdout"], found["value"]) == ("before\n", None)
    told = found["error"].splitlines()
    assert told[:2] == ["Traceback (most recent call last):", '  File "program.py", line 4, in <module>']
    assert "    return 1 / 0" in told
    assert told[-1] == "ZeroDivisionError: division by zero"
    assert "python_code" not in found["error"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def (", "SyntaxError"),
        ("raise SystemExit('no')", "SystemExit: no"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("\0", "SyntaxError"),
        ("class E(BaseException):\n    pass\nraise E('x')", "E: x"),
        ("class E:\n    def __repr__(self):\n        raise ValueError('no repr')\nE()", "ValueError: no repr"),
    ],
)
async def test_whatever_goes_wrong_is_told(code: str, words: str) -> None:
    found = await run(code)
    assert words in found["error"]


async def test_what_is_too_long_is_cut() -> None:
    printed = await run(f"print('x' * {MOST_CHARACTERS * 3}); print('y')")
    assert (len(printed["stdout"]), printed["cut"]) == (MOST_CHARACTERS, True)
    valued = await run(f"'x' * {MOST_CHARACTERS * 3}")
    assert (len(valued["value"]), valued["cut"]) == (MOST_CHARACTERS, True)
    failed = await run("raise ValueError('x' * 1_000_000)")
    assert len(failed["error"]) <= 4_000
