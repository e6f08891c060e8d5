"""Tools that start programs, by the context and by the language's own means."""

from __future__ import annotations

import os
import subprocess
import sys

from ringfence import Context, Processes, tool

NEED = [Processes("wc", "sh", "cat", "sleep")]


@tool(safety="write", idempotency="optional", needs=NEED)
def count(ctx: Context, text: str) -> str:
    """Count words by a listed program."""
    done = ctx.processes.run(["wc", "-w"], input=text)
    return f"{done.code} {done.stdout.decode().strip()}"


@tool(safety="write", idempotency="optional", needs=NEED)
async def count_awaited(ctx: Context, text: str) -> str:
    """Count words by a listed program, in a coroutine."""
    done = await ctx.processes.run(["/usr/bin/wc", "-w"], input=text.encode(), timeout=5)
    return f"{done.code} {done.stdout.decode().strip()}"


@tool(safety="write", idempotency="optional", needs=NEED)
def start(ctx: Context, program: str) -> str:
    """Ask the context for any program."""
    return str(ctx.processes.run([program]).code)


@tool(safety="write", idempotency="optional", needs=NEED)
def shell(script: str) -> str:
    """Run a script by the listed shell."""
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    return f"{done.returncode} {done.stdout.strip()} {done.stderr.strip()}"


@tool(safety="write", idempotency="optional", needs=NEED)
def leave_behind(seconds: int) -> int:
    """Leave a daemon behind."""
    return subprocess.Popen(["sleep", str(seconds)], start_new_session=True).pid


@tool(safety="write", idempotency="optional", needs=NEED)
def imported_by() -> list[int]:
    """Which process imported this module, and which serves."""
    return [_IMPORTED_BY, os.getpid(), int("zygote" in str(sys.argv))]


_IMPORTED_BY = os.getpid()
