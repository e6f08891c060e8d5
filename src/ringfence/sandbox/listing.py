"""Which files a call changed: the granted folders as they were before it and as they are after it.

Takes: the real paths that a call may write.  Gives: names of what was written and removed, and whether that is all.
Never: follows a link, opens a file, or believes a time that a program can set.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ringfence.kernel.beneath import HERE, PLAIN_NAMES, STAY_BENEATH, open_at
from ringfence.kernel.filesystems import tells_every_write

MOST_ENTRIES = 10_000
MOST_NAMES = 1_000
# Two changes within one tick of an older kernel's clock have one time; no kernel's tick is longer.
_TICK_NS = 10_000_000
# Inode, size and the time of the last change, which the kernel alone sets.
State: TypeAlias = tuple[int, int, int]


@dataclass(kw_only=True)
class Listing:
    """Files by the path that the jail sees them at, and folders; not `whole` where some could not be looked at.

    `telling` unless a file can be written here without its times saying so.
    """

    at: int = field(default_factory=time.time_ns)
    states: dict[str, State] = field(default_factory=dict[str, State])
    folders: dict[str, State] = field(default_factory=dict[str, State])
    whole: bool = True
    telling: bool = True

    @property
    def settled(self) -> bool:
        """Whether every change after this look has another time than the last one before it."""
        last = max((state[2] for state in (*self.states.values(), *self.folders.values())), default=0)
        return last < self.at - _TICK_NS


def look(places: Iterable[tuple[str, str]]) -> Listing:
    """The files in and below granted places: (path in the jail, real path)."""
    listing = Listing()
    for shown, real in places:
        listing.whole = _look_at(shown, real, into=listing) and listing.whole
    return listing


def changes(before: Listing, after: Listing, *, alone: bool) -> dict[str, Any]:
    """What a call did, as far as the host can tell; `alone` unless another call could write to the same places."""
    written = [path for path, state in after.states.items() if before.states.get(path) != state]
    removed = [path for path in before.states if path not in after.states]
    complete = alone and before.whole and after.whole and len(written) + len(removed) <= MOST_NAMES
    if not written and not removed:
        # That nothing was written is proof for whoever may run the call again, so it takes more to say it.
        written = [f"{path}/" for path, state in after.folders.items() if before.folders.get(path) != state]
        complete = complete and before.telling and (bool(written) or before.settled)
    return {
        "written": sorted(map(shown_path, written))[:MOST_NAMES],
        "removed": sorted(map(shown_path, removed))[:MOST_NAMES],
        "coverage": "whole" if complete else "partial",
    }


def shown_path(path: str) -> str:
    """A name that a hostile tool may have chosen, with nothing in it that a terminal or a reader would obey."""
    text = os.fsencode(path.lstrip("/")).decode("utf-8", "backslashreplace")
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _look_at(shown: str, real: str, *, into: Listing) -> bool:
    try:
        root = open_at(HERE, real, flags=os.O_PATH, resolve=PLAIN_NAMES)
    except OSError:
        return False
    try:
        seen = os.fstat(root)
        into.telling = into.telling and tells_every_write(root)
        if not stat.S_ISDIR(seen.st_mode):
            into.states[shown] = _state(seen)
            return True
        return _walk(root, shown=shown, into=into)
    finally:
        os.close(root)


def _walk(root: int, *, shown: str, into: Listing) -> bool:
    whole = True
    folders = ["."]
    while folders:
        folder = folders.pop()
        try:
            descriptor = open_at(root, folder, flags=os.O_RDONLY | os.O_DIRECTORY, resolve=STAY_BENEATH | PLAIN_NAMES)
        except OSError:
            whole = False
            continue
        try:
            into.folders[f"{shown}{folder[1:]}"] = _state(os.fstat(descriptor))
            if not _look_into(descriptor, folder=folder, shown=shown, folders=folders, into=into):
                return False
        except OSError:
            whole = False
        finally:
            os.close(descriptor)
    return whole


def _look_into(descriptor: int, *, folder: str, shown: str, folders: list[str], into: Listing) -> bool:
    """Note everything in one folder, one entry at a time; False where there are more than are looked at."""
    with os.scandir(descriptor) as entries:
        for entry in entries:
            if len(into.states) + len(folders) >= MOST_ENTRIES:
                return False
            seen = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(seen.st_mode):
                folders.append(f"{folder}/{entry.name}")
            else:
                into.states[f"{shown}{folder[1:]}/{entry.name}"] = _state(seen)
    return True


def _state(seen: os.stat_result) -> State:
    return seen.st_ino, seen.st_size, seen.st_ctime_ns
