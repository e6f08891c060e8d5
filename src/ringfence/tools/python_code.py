"""`run_python`: a program that the model wrote, run where it can reach nothing.

Takes: Python code.  Gives: what it printed, the value of its last line, or how it failed.  Never: needs a promise of
the code's: the jail has no file, no network, no other process and no secret for it.
"""

from __future__ import annotations

import ast
import io
import linecache
import traceback
from contextlib import redirect_stderr, redirect_stdout
from typing import Annotated, Any

from pydantic import BaseModel, Field

from ringfence import Limits, tool

MOST_CHARACTERS = 100_000
_MOST_ERROR = 4_000
_NAME = "program.py"


class Ran(BaseModel):
    """What came of the code."""

    stdout: str = Field(description="What it printed, to standard error too.")
    value: str | None = Field(description="The value of the last line, as `repr` shows it, if that is an expression.")
    error: str | None = Field(description="The traceback, where it failed.")
    cut: bool = Field(description="Whether some of this was left out because it is too long.")


@tool(
    safety="read",
    limits=Limits(wall_seconds=20, cpu_seconds=10, memory_mb=256, disk_mb=64, output_kb=1_024),
)
def run_python(
    code: Annotated[
        str,
        Field(
            min_length=1,
            max_length=50_000,
            description="A Python program; the value of its last line is given back if it is an expression.",
            examples=["import statistics\nstatistics.median([3, 1, 2])"],
        ),
    ],
) -> Ran:
    """Run Python code in a jail of its own and give what it printed and the value of its last line.

    It has the standard library, a scratch folder and 10 seconds of CPU time; no network, no other files, no other
    programs. Nothing is kept from one call to the next.
    """
    printed = Kept(MOST_CHARACTERS)
    value: str | None = None
    error: str | None = None
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            value = _value(code)
        except SystemExit as ended:
            error = None if ended.code in (None, 0) else f"SystemExit: {str(ended.code)[:_MOST_ERROR]}"
        except BaseException as failure:  # whatever the code raises is an answer to whoever wrote it
            error = _told(failure)
    cut = printed.dropped > 0 or len(value or "") > MOST_CHARACTERS
    return Ran(stdout=printed.text(), value=value[:MOST_CHARACTERS] if value else value, error=error, cut=cut)


class Kept(io.TextIOBase):
    """Holds the first so many characters that are written, and counts the rest."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces: list[str] = []
        self._held = self.dropped = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        piece = text[: self._most - self._held]
        self._pieces.append(piece)
        self._held += len(piece)
        self.dropped += len(text) - len(piece)
        return len(text)

    def text(self) -> str:
        return "".join(self._pieces)


def _value(code: str) -> str | None:
    """Run the code; the last line's value, if it has one."""
    # So that a traceback shows the line it names.
    linecache.cache[_NAME] = (len(code), None, code.splitlines(keepends=True), _NAME)
    tree = ast.parse(code, filename=_NAME)
    names: dict[str, Any] = {"__name__": "__main__"}
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, _NAME, "exec"), names)  # noqa: S102  the code is what this tool is for, and the jail is its bound
    if not isinstance(last, ast.Expr):
        return None
    return _shown(last, names)


def _shown(last: ast.Expr, names: dict[str, Any]) -> str | None:
    found = eval(compile(ast.Expression(last.value), _NAME, "eval"), names)  # noqa: S307  as above
    return None if found is None else repr(found)


def _told(failure: BaseException) -> str:
    """The traceback from the code's own first line on."""
    frames = failure.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != _NAME:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(failure), failure, frames))[-_MOST_ERROR:]
