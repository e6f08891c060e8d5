"""Tools that can be asked, and one that cannot; module-level, as tools handed over in code must be."""

from __future__ import annotations

from importlib.machinery import ModuleSpec

from ringfence import CannotTell, Context, Done, Files, NotDone, Tool, tool

# A module of its own, so that its source is this file and not every file beneath `tests`.
__spec__ = ModuleSpec("reconcilable", None, origin=__file__)


def was_put(ctx: Context, key: str) -> Done[str] | NotDone | CannotTell:
    return Done(key) if ctx.agent else CannotTell()


@tool(safety="write", idempotency="required", needs=[Files(write=["outbox"])], reconcile=was_put)
def put(title: str) -> str:
    """Put a letter into the outbox."""
    return title


@tool(safety="write", idempotency="required", needs=[Files(write=["outbox"])])
def put_blindly(title: str) -> str:
    """Put a letter into the outbox, and never ask."""
    return title


TOOLS: tuple[Tool, ...] = (put, put_blindly)
