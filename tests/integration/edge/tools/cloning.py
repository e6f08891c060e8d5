"""Tools that clone a repository with git itself."""

from __future__ import annotations

from pathlib import Path

from ringfence import Context, Network, Processes, tool

GIT_HOST = Network("git.example.com")
GIT = Processes("git", "/usr/lib/git-core/git", "/usr/lib/git-core/git-remote-https")


def _clone(ctx: Context, url: str) -> list[str]:
    done = ctx.processes.run(["git", "clone", "--quiet", url, "/tmp/clone"])
    if done.code:
        return [str(done.code), done.stderr.decode()]
    return [str(done.code), Path("/tmp/clone/letter").read_text(encoding="utf-8")]


@tool(safety="network", egress="write", idempotency="optional", needs=[GIT_HOST, GIT])
def clone(ctx: Context, url: str) -> list[str]:
    """Clone end to end; git asks for what it wants by POST."""
    return _clone(ctx, url)


@tool(safety="read", needs=[GIT_HOST, GIT])
def clone_by_reading(ctx: Context, url: str) -> list[str]:
    """Clone under an eye that lets nothing but reading pass."""
    return _clone(ctx, url)
