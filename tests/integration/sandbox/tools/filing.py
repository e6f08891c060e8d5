"""Tools that use files of the agent's workspace, by the context and by the language's own means."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ringfence import FROM_AGENT, Context, Files, tool

NEED = [Files(read=["knowledge"], write=["outbox"])]


@tool(safety="read", needs=NEED)
def read_note(ctx: Context, path: str) -> str:
    """Read a note."""
    return str(ctx.files.read_text(path))


@tool(safety="write", idempotency="optional", needs=NEED)
def write_note(ctx: Context, path: str, text: str) -> list[str]:
    """Write a note and list its folder."""
    ctx.files.write_text(path, text)
    listed: list[str] = ctx.files.list(os.path.dirname(path))
    return listed


@tool(safety="write", idempotency="optional", needs=NEED)
async def write_awaited(ctx: Context, path: str, text: str) -> str:
    """Write a note and read it again, in a coroutine."""
    await ctx.files.write_text(path, text)
    return str(await ctx.files.read_text(path))


@tool(safety="write", idempotency="optional", needs=NEED)
def plain_write(path: str, text: str) -> str:
    """Write by the built-in open, relative to where a call starts."""
    Path(path).write_text(text, encoding="utf-8")
    return f"{os.getcwd()} {os.stat(path).st_uid}"


@tool(safety="write", idempotency="optional", needs=NEED)
def remove(path: str) -> str:
    """Remove a file."""
    os.unlink(path)
    return "removed"


@tool(safety="read", needs=[Files(read=FROM_AGENT)])
def everything() -> Annotated[list[str], Field(max_length=1000)]:
    """List all that the agent itself may read."""
    return sorted(f"{folder}/{name}" for folder, _, names in os.walk(".") for name in names)


@tool(safety="write", idempotency="optional", needs=NEED)
def attempt(what: str) -> str:
    """Try something that must fail; says how it failed."""
    tries: dict[str, Callable[[], object]] = {
        "write what is read": lambda: Path("knowledge/a").write_text("x", encoding="utf-8"),
        "add to what is read": lambda: Path("knowledge/new").write_text("x", encoding="utf-8"),
        "write the workspace": lambda: Path("new").write_text("x", encoding="utf-8"),
        "link": lambda: os.symlink("/etc/passwd", "outbox/link"),
        "hard link": lambda: os.link("knowledge/a", "outbox/a"),
        "pipe": lambda: os.mkfifo("outbox/pipe"),
        "device": lambda: os.mknod("outbox/device"),
        "permit": lambda: os.chmod("knowledge/a", 0o777),
    }
    try:
        tries[what]()
    except OSError as failure:
        return os.strerror(failure.errno or 0)
    return "done"
