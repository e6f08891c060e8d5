"""`write_file`: a text into a file of the agent's workspace.

Takes: a path, a text, and what to do where a file is there.  Gives: what was written.  Never: replaces a file unless
it was told to, or makes a folder outside what was granted.
"""

from __future__ import annotations

import os
from typing import IO, Annotated, Literal

from pydantic import BaseModel, Field

from ringfence import FROM_AGENT, Context, Files, Limits, tool
from ringfence.inside.files import safe_resolve
from ringfence.tools.arguments import WorkspacePath, wrong

_MODES = {"create": "xb", "replace": "wb", "append": "ab"}


class Written(BaseModel):
    """What was written."""

    path: str
    size: int = Field(description="How many bytes the file has now.")


@tool(
    safety="write",
    idempotency="optional",
    needs=[Files(write=FROM_AGENT)],
    limits=Limits(wall_seconds=20, cpu_seconds=5, memory_mb=256, output_kb=64),
)
def write_file(
    ctx: Context,
    path: WorkspacePath,
    text: Annotated[str, Field(max_length=200_000, description="The whole text to write, as UTF-8.")],
    mode: Annotated[
        Literal["create", "replace", "append"],
        Field(description="`create` refuses where a file is there, `replace` takes its place, `append` adds to it."),
    ] = "create",
) -> Written:
    """Write a text file in the workspace.

    Folders on the way are made. An existing file is left alone unless `mode` says otherwise.
    """
    content = text.encode()
    with _opened(ctx, path, mode=_MODES[mode]) as file:
        file.write(content)
        file.flush()
        size = os.fstat(file.fileno()).st_size
    return Written(path=path, size=size)


def _opened(ctx: Context, path: str, *, mode: str) -> IO[bytes]:
    try:
        try:
            return _open(ctx, path, mode=mode)
        except FileNotFoundError:
            _make_folders(path)
            return _open(ctx, path, mode=mode)
    except FileExistsError:
        remedy = "use another path, or `mode` `replace` or `append`"
        raise wrong("path", f"`{path}` is there already", remedy=remedy) from None
    except IsADirectoryError:
        raise wrong("path", f"`{path}` is a folder", remedy="name a file in it") from None


def _open(ctx: Context, path: str, *, mode: str) -> IO[bytes]:
    file: IO[bytes] = ctx.files.open(path, mode)
    return file


def _make_folders(path: str) -> None:
    """Make what is missing on the way; the path is held beneath the workspace before anything is made."""
    workspace = os.getcwd()
    name = os.path.relpath(safe_resolve(workspace, path), workspace)
    os.makedirs(os.path.dirname(name) or ".", mode=0o700, exist_ok=True)
