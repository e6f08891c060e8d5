"""`read_file`: lines of a text file in the agent's workspace.

Takes: a path, and which lines.  Gives: their text, and whether there is more.  Never: holds more than it returns,
however large the file or a line of it is.
"""

from __future__ import annotations

from typing import IO, Annotated

from pydantic import BaseModel, Field

from ringfence import FROM_AGENT, Context, Files, Limits, tool
from ringfence.tools.arguments import WorkspacePath, wrong
from ringfence.tools.texts import open_text, shown

MOST_CHARACTERS = 200_000
_MOST_LINE = 1 << 20
_MOST_LINES = 5_000


class FileText(BaseModel):
    """A part of a text file."""

    path: str
    text: str = Field(description="The lines, with their ends.")
    first_line: int
    last_line: int = Field(description="The last line that is here, the file's first being 1; 0 where it is empty.")
    more: bool = Field(description="Whether the file goes on after it; ask again from `last_line` + 1.")


@tool(
    safety="read",
    needs=[Files(read=FROM_AGENT)],
    limits=Limits(wall_seconds=20, cpu_seconds=10, memory_mb=256, output_kb=1_024),
)
def read_file(
    ctx: Context,
    path: WorkspacePath,
    first_line: Annotated[int, Field(ge=1, le=10_000_000, description="Where to begin; the first line is 1.")] = 1,
    lines: Annotated[int, Field(ge=1, le=_MOST_LINES, description="How many lines at most.")] = 2_000,
) -> FileText:
    """Read lines of a text file in the workspace.

    Gives at most 200,000 characters at a time and says whether there is more. A file that is not text is refused.
    """
    with open_text(ctx, path) as file:
        skipped = _skip(file, count=first_line - 1)
        if skipped < first_line - 1:
            raise wrong("first_line", f"the file has {skipped} lines", remedy="begin at one of them")
        return _read(file, path=path, first_line=first_line, lines=lines)


def _skip(file: IO[bytes], *, count: int) -> int:
    """Pass over lines; gives how many there were."""
    for passed in range(count):
        line = file.readline(_MOST_LINE)
        if not line:
            return passed
        while line and not line.endswith(b"\n"):
            line = file.readline(_MOST_LINE)
    return count


def _read(file: IO[bytes], *, path: str, first_line: int, lines: int) -> FileText:
    kept: list[bytes] = []
    room, last, whole = MOST_CHARACTERS, first_line - 1, True
    while room > 0 and last - first_line + 1 < lines and (line := file.readline(room)):
        kept.append(line)
        room -= len(line)
        whole = line.endswith(b"\n")
        last += 1
    more = bool(file.read(1))
    if more and not whole and len(kept) > 1:
        # A line that does not fit comes whole with the next call; one that never fits is cut.
        kept.pop()
        last -= 1
    return FileText(path=path, text=shown(b"".join(kept)), first_line=first_line, last_line=last, more=more)
