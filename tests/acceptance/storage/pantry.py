"""A project whose tools keep rows, opened in real jails; each tool does what it is told, step by step.

Takes: a folder.  Gives: a `Pantry` that makes calls and reads the trail.  Never: reaches the store behind the runtime.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, chdir, closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ringfence.assembly import open_runtime
from ringfence.assembly.assemble import utc_now
from ringfence.runtime import Completed, Outcome, Runtime, Waiting

VALUE = "zebra-orchid-41-lantern"
TOOLS = '''
import asyncio
import itertools
import json
import threading
from typing import Annotated

from pydantic import Field

from ringfence import Context, Done, Files, Limits, Network, NotDone, Processes, Retry, Secrets, Storage, tool
from ringfence.errors import RingfenceError

EVERY = [Storage("tool"), Storage("session"), Storage("agent")]
HOST = "desk.example.com"
Long = Annotated[str, Field(max_length=250_000)]


def _does(ctx, steps):
    said = []
    for name, args, options in json.loads(steps):
        try:
            said.append(getattr(ctx.storage, name)(*args, **options))
        except RingfenceError as refused:
            said.append({"code": refused.code, "message": refused.message, "remedy": refused.remedy})
    return json.dumps(said)


@tool(safety="write", idempotency="optional", needs=EVERY)
def does(ctx: Context, steps: Long) -> Long:
    """Do the steps and say what each came to."""
    return _does(ctx, steps)


@tool(safety="write", idempotency="optional", needs=EVERY)
def also(ctx: Context, steps: Long) -> Long:
    """Do the steps as another tool."""
    return _does(ctx, steps)


@tool(safety="read", needs=[Storage("tool")])
def lone(ctx: Context, steps: Long) -> Long:
    """Do the steps with rows of its own alone."""
    return _does(ctx, steps)


@tool(safety="read")
def bare(ctx: Context) -> str:
    """Ask for what was not declared."""
    return str(ctx.storage)


@tool(safety="write", idempotency="optional", needs=[Storage("tool")])
async def later(ctx: Context, steps: Long) -> Long:
    """Do the steps all at once, in a coroutine."""
    async def one(name, args, options):
        return await getattr(ctx.storage, name)(*args, **options)

    return json.dumps(await asyncio.gather(*(one(*step) for step in json.loads(steps))))


@tool(safety="write", idempotency="optional", needs=[Storage("tool")])
async def hasty(ctx: Context) -> str:
    """Give up on answers, leave one question out, and go on."""
    for number in range(20):
        try:
            await asyncio.wait_for(ctx.storage.set(f"n{number}", number), timeout=0.0001)
        except TimeoutError:
            pass
    await ctx.storage.set("known", "yes")
    said = await ctx.storage.get("known")
    asyncio.ensure_future(ctx.storage.set("last", 1))
    await asyncio.sleep(0)
    return said


@tool(safety="write", idempotency="optional", needs=[Storage("tool")])
def threads(ctx: Context) -> int:
    """Count in many threads at once."""
    def add():
        while True:
            now = ctx.storage.get("count")
            if ctx.storage.compare_and_set("count", now, (now or 0) + 1):
                return

    crowd = [threading.Thread(target=add) for _ in range(8)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    return ctx.storage.get("count")


@tool(safety="write", idempotency="optional", needs=[Storage("tool")])
def breaks(ctx: Context, key: str) -> str:
    """Keep a row, then fail."""
    if key:
        ctx.storage.set(key, 1)
    raise RuntimeError("broken")


@tool(safety="read", needs=[Storage("tool")], retry=Retry(3, backoff=0))
def flaky(ctx: Context, step: int) -> int:
    """Add to a number, and fail."""
    ctx.storage.set("tries", ctx.storage.get("tries", 0) + step) if step else ctx.storage.get("tries")
    raise RuntimeError("broken")


def was_sent(ctx: Context, key: str) -> Done[str] | NotDone:
    """Look for the note, and try to change it."""
    try:
        ctx.storage.delete(key)
    except RingfenceError:
        return Done(ctx.storage.get(key)) if ctx.storage.get(key) else NotDone()


@tool(safety="write", idempotency="required", needs=[Storage("tool")], reconcile=was_sent)
def sends(ctx: Context, text: str) -> str:
    """Note what was sent, and break off."""
    ctx.storage.set(ctx.idempotency_key, text)
    raise RuntimeError("broken off")


@tool(safety="write", idempotency="optional", needs=[Storage("tool")], limits=Limits(wall_seconds=1.0))
def forever(ctx: Context) -> int:
    """Keep one row after another until somebody stops it."""
    for number in itertools.count():
        ctx.storage.set(f"row/{number}", 0)
    return number


@tool(safety="write", idempotency="optional", needs=[Storage("tool"), Processes("wc"), Files(write=["out"])])
async def counts(ctx: Context, text: str) -> list[int]:
    """Count words with a program, remember the number, and write it down."""
    done = await ctx.processes.run(["wc", "-w"], input=text)
    await ctx.storage.set("words", int(done.stdout))
    await ctx.files.write_text("out/words", str(await ctx.storage.get("words")))
    return [await ctx.storage.get("words"), int(await ctx.files.read_text("out/words"))]


@tool(safety="write", idempotency="optional", needs=[Storage("tool")])
def full(ctx: Context) -> str:
    """Do not notice that storage is full."""
    ctx.storage.set("k", "x" * 1_000_000)
    return "never"


@tool(
    safety="write",
    idempotency="optional",
    needs=[Storage("agent"), Network(HOST), Secrets("DESK_KEY", hosts=[HOST], reveal=True)],
)
def leaks(ctx: Context, how: str) -> str:
    """Try to keep a secret."""
    value, mark = ctx.secrets["DESK_KEY"].raw(), ctx.secrets["DESK_KEY"].bearer()
    rows = {
        "value": ("k", {"a": [value]}),
        "encoded": ("k", value.encode().hex()),
        "key": (value, 1),
        "placeholder": ("k", mark),
    }
    ctx.storage.set(*rows[how])
    return "kept"
'''
KEPT = {"value_kb": 64, "rows": 50, "scope_kb": 128, "agent_kb": 256}


def step(name: str, *args: Any, **options: Any) -> list[Any]:
    return [name, args, options]


@dataclass(kw_only=True)
class Pantry:
    """An open project."""

    runtime: Runtime
    folder: Path

    async def call(self, tool: str, arguments: dict[str, Any], *, agent: str = "ana", id: str | None = None) -> Outcome:
        session = self.runtime.session(agent=agent, id=id)
        outcome = await session.call(tool, arguments)
        if isinstance(outcome, Waiting):
            await self.runtime.approvals.vote(outcome.approval_id, voter="alice", decision="approve")
            outcome = await session.resume(outcome.invocation_id)
        return outcome

    async def does(
        self, *steps: Sequence[Any], tool: str = "does", agent: str = "ana", id: str | None = None
    ) -> list[Any]:
        """What each step came to."""
        outcome = await self.call(tool, {"steps": json.dumps(steps)}, agent=agent, id=id)
        assert isinstance(outcome, Completed), outcome
        said: list[Any] = json.loads(outcome.output)
        return said

    def rows(self) -> list[str]:
        """The keys in the store's file, whether or not their time is over."""
        with closing(sqlite3.connect(self.folder / "state" / "ringfence.db")) as file:
            return [key for (key,) in file.execute("SELECT key FROM storage_rows ORDER BY key")]

    def status(self, outcome: Outcome) -> str:
        """The state of a call in the store's file."""
        with closing(sqlite3.connect(self.folder / "state" / "ringfence.db")) as file:
            row = file.execute("SELECT status FROM invocations WHERE id = ?", (outcome.invocation_id,)).fetchone()
            return str(row[0])

    async def trail(self, kind: str) -> list[dict[str, Any]]:
        return [event async for event in self.runtime.audit.export() if event["kind"] == kind]

    async def noticed(self) -> list[dict[str, Any]]:
        return [event["body"] for event in await self.trail("security_event")]


def settings(folder: Path, **changes: Any) -> dict[str, Any]:
    agent = {
        "allowed_tools": ["*"],
        "network": {"allow": ["desk.example.com"]},
        "secrets": {"allow": ["DESK_KEY"]},
        "processes": {"allow": ["wc"]},
        "files": {"write": ["out"]},
    }
    return {
        "version": 1,
        "tools": {"modules": ["pantry_tools"], "path": [str(folder)]},
        "people": {"alice": {"roles": ["approver"]}, "bob": {"roles": ["operator"]}},
        "agents": {"ana": agent, "ben": agent},
        "secrets": {"DESK_KEY": {"file": str(folder / "desk.key")}},
        "sandbox": {"kind": "local"},
        "storage": KEPT,
        "store": {"url": f"sqlite:///{folder}/state/ringfence.db"},
        "audit": {"anchor": f"{folder}/state/anchor.log", "signing_key": f"{folder}/state/audit.key"},
        **changes,
    }


@asynccontextmanager
async def opened(
    folder: Path, *, code: str = TOOLS, now: Callable[[], datetime] = utc_now, **changes: Any
) -> AsyncGenerator[Pantry]:
    (folder / "pantry_tools.py").write_text(code)
    (folder / "desk.key").touch(mode=0o600)
    (folder / "desk.key").write_text(VALUE + "\n")
    # A runtime that keeps its rows elsewhere keeps the rest in `state` of the folder it is opened in.
    with chdir(folder):
        async with open_runtime(settings(folder, **changes), accept_as="bob", now=now) as runtime:
            yield Pantry(runtime=runtime, folder=folder)
