"""A tool that starts whatever the agent lists."""

from __future__ import annotations

from ringfence import FROM_AGENT, Context, Files, Processes, tool


@tool(safety="write", idempotency="optional", needs=[Processes(FROM_AGENT)])
def start_listed(ctx: Context, words: list[str]) -> str:
    """Start a program of the agent's list."""
    done = ctx.processes.run(words)
    return f"{done.code} {done.stdout.decode()}{done.stderr.decode()}".strip()


@tool(safety="write", idempotency="optional", needs=[Processes(FROM_AGENT), Files(write=FROM_AGENT)])
def start_in_the_workspace(ctx: Context, words: list[str]) -> str:
    """Start a program of the agent's list, where the agent's files are."""
    done = ctx.processes.run(words)
    return f"{done.code} {done.stdout.decode()}{done.stderr.decode()}".strip()
