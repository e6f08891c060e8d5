"""`search_files`: files of the agent's workspace by their names, and lines in them by a text or an expression.

Takes: what to look for, and where.  Gives: paths, and lines with their places.  Never: follows a link, reads a file
that is not text, backtracks, or goes on without an end.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import IO, Annotated, Any, Literal

from pydantic import BaseModel, Field

from ringfence import FROM_AGENT, Context, Files, Limits, tool
from ringfence.contract.patterns import glob
from ringfence.errors import PathNotReachable
from ringfence.tools.arguments import WorkspacePath, wrong
from ringfence.tools.texts import is_binary, shown
from ringfence.tools.walking import paths_below

MOST_FILES = 10_000
_MOST_FILE_BYTES = 64 << 20
_MOST_LINE = 65_536
_MOST_SHOWN = 300
_BEFORE = 60
_EXPRESSION_BYTES = 8 << 20
_SECONDS = 8.0
_SAMPLE = 8_192

Search = Callable[[str], int]


class Match(BaseModel):
    """One line that holds what was looked for, or one file that is called so."""

    path: str
    line: int = Field(description="The line's number, the first being 1; 0 for a file that was found by its name.")
    text: str = Field(description="The line, or the part of it round the match.")


class Matches(BaseModel):
    """What was found."""

    matches: list[Match]
    searched: int = Field(description="How many files were read.")
    skipped: int = Field(description="How many files were passed over: not text, too large, or not readable.")
    more: bool = Field(description="Whether the search stopped before its end; narrow it with `folder` or `files`.")


@tool(
    safety="read",
    needs=[Files(read=FROM_AGENT)],
    limits=Limits(wall_seconds=30, cpu_seconds=20, memory_mb=256, output_kb=1_024),
)
def search_files(
    ctx: Context,
    pattern: Annotated[str, Field(min_length=1, max_length=500, description="What to look for.", examples=["refund"])],
    kind: Annotated[
        Literal["text", "expression", "name"],
        Field(
            description="`text` is looked for as it is; `expression` is a regular expression in RE2's syntax; `name` "
            "finds files by a glob instead, and `*` lists them all."
        ),
    ] = "text",
    folder: WorkspacePath = ".",
    files: Annotated[
        str,
        Field(max_length=200, description="A glob for paths or names; `*` is anything.", examples=["*.md"]),
    ] = "*",
    case: Annotated[Literal["matters", "ignored"], Field(description="Whether case matters in a line.")] = "matters",
    most: Annotated[int, Field(ge=1, le=500, description="How many matches at most.")] = 100,
) -> Matches:
    """Search the text files of the workspace line by line, or find files by their names.

    Links are not followed. The search ends by itself after 8 seconds, 10,000 files or `most` matches and then says
    that there is more.
    """
    if kind == "name":
        return _Hunt(ctx, search=None, files=(files, pattern), most=most).through(folder)
    search = _literal(pattern, case) if kind == "text" else _expression(pattern, case)
    return _Hunt(ctx, search=search, files=(files,), most=most).through(folder)


class _Hunt:
    """One search: what it has found, and when it has to stop; without `search`, names are all that is looked at."""

    def __init__(self, ctx: Context, *, search: Search | None, files: tuple[str, ...], most: int) -> None:
        self._ctx = ctx
        self._search = search
        self._globs = [glob(each) for each in files]
        self._most = most
        self._until = time.monotonic() + _SECONDS
        self._matches: list[Match] = []
        self._searched = self._skipped = 0

    def through(self, folder: str) -> Matches:
        more = False
        for path in paths_below(self._ctx, os.path.normpath(folder) if ".." not in folder else folder):
            if self._spent():
                more = True
                break
            if all(wanted(path) or wanted(os.path.basename(path)) for wanted in self._globs):
                more = not self._look_at(path) or more
        return Matches(
            matches=self._matches[: self._most],
            searched=self._searched,
            skipped=self._skipped,
            more=more or len(self._matches) > self._most,
        )

    def _spent(self) -> bool:
        seen = self._searched + self._skipped
        return len(self._matches) > self._most or seen >= MOST_FILES or time.monotonic() > self._until

    def _look_at(self, path: str) -> bool:
        if self._search is not None:
            return self._look_into(path, self._search)
        self._matches.append(Match(path=path, line=0, text=""))
        return True

    def _look_into(self, path: str, search: Search) -> bool:
        """Whether the file was looked through to its end."""
        try:
            file: IO[bytes] = self._ctx.files.open(path, "rb")
        except (OSError, PathNotReachable):
            self._skipped += 1
            return True
        with file:
            if os.fstat(file.fileno()).st_size > _MOST_FILE_BYTES or is_binary(file.read(_SAMPLE)):
                self._skipped += 1
                return True
            file.seek(0)
            self._searched += 1
            return self._lines_of(file, path=path, search=search)

    def _lines_of(self, file: IO[bytes], *, path: str, search: Search) -> bool:
        for number, line in enumerate(_lines(file), start=1):
            if self._spent():
                return False
            at = search(line)
            if at >= 0:
                self._matches.append(Match(path=path, line=number, text=_excerpt(line, at=at)))
        return True


def _lines(file: IO[bytes]) -> Iterator[str]:
    """Lines as text, without their ends; of a longer one, only its beginning."""
    while line := file.readline(_MOST_LINE):
        yield shown(line).rstrip("\r\n")
        while line and not line.endswith(b"\n"):
            line = file.readline(_MOST_LINE)


def _literal(pattern: str, case: str) -> Search:
    if case == "matters":
        return lambda line: line.find(pattern)
    folded = pattern.casefold()
    return lambda line: line.casefold().find(folded)


def _expression(pattern: str, case: str) -> Search:
    # In the function: 13 ms that only such a search needs.
    engine: Any = import_module("re2")
    options = engine.Options()
    options.log_errors = False
    options.max_mem = _EXPRESSION_BYTES
    options.case_sensitive = case == "matters"
    try:
        compiled = engine.compile(pattern, options)
    except engine.error as problem:
        said: Any = problem.args[0]
        why = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise wrong("pattern", f"it is no expression: {why}", remedy="correct it, or set `kind` to `text`") from None

    def search(line: str) -> int:
        found = compiled.search(line)
        return -1 if found is None else int(found.start())

    return search


def _excerpt(line: str, *, at: int) -> str:
    start = 0 if at < _MOST_SHOWN - _BEFORE else at - _BEFORE
    return line[start : start + _MOST_SHOWN]
