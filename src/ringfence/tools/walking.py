"""Every file in and below a folder of the agent's workspace, in order.

Takes: a context with files, and a folder.  Gives: paths.  Never: follows a link, or lists what was not granted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from ringfence import Context
from ringfence.tools.arguments import wrong

_MOST_DEPTH = 24


def paths_below(ctx: Context, folder: str) -> Iterator[str]:
    """Files in and below a folder, in order; what is a link is left out."""
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop()
        below: list[tuple[str, int]] = []
        for name in _names(ctx, place, first=depth == 0):
            path = name if place == "." else f"{place}/{name}"
            mode = _mode(path)
            if stat.S_ISDIR(mode) and depth < _MOST_DEPTH:
                below.append((path, depth + 1))
            elif stat.S_ISREG(mode):
                yield path
        waiting += reversed(below)


def _names(ctx: Context, folder: str, *, first: bool) -> list[str]:
    try:
        names: list[str] = ctx.files.list(folder)
    except (FileNotFoundError, NotADirectoryError):
        if first:
            raise wrong("folder", f"there is no folder `{folder}`", remedy="name one, or leave it out") from None
        return []
    except PermissionError:
        return []
    return names


def _mode(path: str) -> int:
    """What kind of thing a name stands for; 0 where it is gone."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0
