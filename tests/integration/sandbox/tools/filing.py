"""Tools that use files of the agent's workspace, by the context and by the language's own means."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ringfence import FROM_AGENT, Context, Files, tool

NEED = [Files(read=["knowledge"], write=["outbox"])]
LARGEST_DURING_IMPORT = resource.getrlimit(resource.RLIMIT_FSIZE)[1]


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
def fill(path: str) -> str:
    """Write more to one file than a call may."""
    try:
        with open(path, "wb") as file:
            for _ in range(8):
                file.write(bytes(1 << 20))
    except OSError as failure:
        return os.strerror(failure.errno or 0)
    return "done"


@tool(safety="write", idempotency="optional", needs=[Files(read=["knowledge/a"], write=["outbox/inner/a"])])
def single_files(ctx: Context) -> list[str]:
    """Use two files that were granted each by itself, then try what lies beside them."""
    ctx.files.write_text("outbox/inner/a", ctx.files.read_text("knowledge/a"))
    tries: tuple[Callable[[], object], ...] = (
        lambda: Path("knowledge/a").write_text("x", encoding="utf-8"),
        lambda: Path("outbox/inner/new").write_text("x", encoding="utf-8"),
        lambda: os.unlink("outbox/inner/a"),
        lambda: os.listdir("knowledge"),
    )
    told: list[str] = [Path("outbox/inner/a").read_text(encoding="utf-8")]
    for act in tries:
        try:
            act()
        except OSError as failure:
            told.append(os.strerror(failure.errno or 0))
        else:
            told.append("done")
    return told


@tool(safety="read", needs=NEED)
def largest_during_import() -> int:
    """How large a file the import of this module could have written."""
    return LARGEST_DURING_IMPORT


@tool(safety="read", needs=NEED)
def list_granted(ctx: Context) -> list[list[str]]:
    """What the context lists of the workspace, and of a folder in it."""
    return [ctx.files.list(), ctx.files.list("outbox/inner")]


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
        "cut what is read": lambda: open("knowledge/a", "r+b").truncate(0),  # noqa: SIM115
        "cut by name": lambda: os.truncate("knowledge/a", 0),
        "cut while opening": lambda: os.open("knowledge/a", os.O_RDONLY | os.O_TRUNC),
        "move out": lambda: os.rename("outbox/inner/a", "a"),
        "move in": lambda: os.rename("knowledge/a", "outbox/stolen"),
        "move between": lambda: os.rename("outbox/inner/a", "outbox/moved"),
        "rename what is read": lambda: os.rename("knowledge/a", "knowledge/b"),
        "re-date": lambda: os.utime("knowledge/a", (0, 0)),
        "copy": lambda: shutil.copyfile("knowledge/a", "outbox/copy"),
        "copy with times": lambda: shutil.copy2("knowledge/a", "outbox/copy"),
        "climb": lambda: os.open("knowledge/../private/a", os.O_RDONLY),
        "list the workspace": lambda: os.listdir("."),
        "another agent's": lambda: os.open("../ben/knowledge/a", os.O_RDONLY),
    }
    try:
        tries[what]()
    except OSError as failure:
        return os.strerror(failure.errno or 0)
    return "done"
