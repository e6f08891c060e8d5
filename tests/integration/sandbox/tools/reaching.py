"""Tools that open whatever path they are told, by the context and by the language's own means, many at once."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial

from ringfence import Context, Files, tool
from ringfence.errors import PathNotReachable

_MOST = 4_096
NEED = [Files(read=["knowledge"], write=["outbox"])]


def _outcome(act: Callable[[], bytes]) -> str:
    try:
        return act().decode(errors="replace")[:40]
    except PathNotReachable:
        return "not reachable"
    except OSError as failure:
        return errno.errorcode.get(failure.errno or 0, "unknown")
    except ValueError as failure:
        return type(failure).__name__


def _read(path: str) -> bytes:
    """A pipe of its own, which some paths lead to, does not keep it waiting."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(descriptor, _MOST)
    finally:
        os.close(descriptor)


@tool(safety="read", needs=NEED)
def reach(ctx: Context, paths: list[str]) -> dict[str, list[str]]:
    """What reading these paths came to, each way."""
    return {
        "plain": sorted({_outcome(partial(_read, path)) for path in paths}),
        "asked": sorted({_outcome(partial(ctx.files.read_bytes, path)) for path in paths}),
    }


@tool(safety="write", idempotency="optional", needs=NEED)
def keep(ctx: Context, paths: list[str]) -> list[str]:
    """Write and read each of these beneath the folder that may be written; those that could not be."""
    lost: list[str] = []
    for path in paths:
        place = f"outbox/{path}"
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            ctx.files.write_bytes(place, path.encode())
            kept = ctx.files.read_bytes(place) == _read(place) == path.encode()
        except (OSError, PathNotReachable) as failure:
            lost.append(f"{path}: {failure}")
        else:
            lost += [] if kept else [path]
    return lost[:20]


@tool(safety="read", needs=NEED)
def race(ctx: Context, rounds: int) -> list[str]:
    """Read one path over and over while somebody outside swaps what it leads through."""
    path = "knowledge/swapped/note"
    ways: tuple[Callable[[], bytes], ...] = (lambda: _read(path), lambda: ctx.files.read_bytes(path))
    return sorted({_outcome(way) for _ in range(rounds) for way in ways})
