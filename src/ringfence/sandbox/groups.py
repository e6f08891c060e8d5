"""Control groups of one jail, lent to its calls: a bound on what a call's whole tree uses, and what it used.

Takes: the groups this process may make.  Gives: a group with a limit, empty.  Never: lends one that somebody still
lives in, or lends a group to two jails: import-time code may keep a door open.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, TypeAlias

from ringfence.kernel import cgroups

Entering: TypeAlias = Literal["by itself", "by the host"]
_SECONDS_TO_LEAVE = 5.0
_PAUSE = 0.002
_numbers = itertools.count()


_NAME = re.compile(r"ringfence-(?P<pid>\d+)-(?P<born>\d+)-\d+")


@cache
def _prefix_of(host: int) -> str:
    """Names the host by its pid and by when it was born, since a pid is used again."""
    return f"ringfence-{host}-{born(host)}-"


def born(pid: int) -> str | None:
    """When a process began, in the kernel's ticks; None where there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as table:
            return table.read().rpartition(")")[2].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        return None


def sweep(hierarchy: cgroups.Hierarchy) -> None:
    """Remove the empty groups of hosts that were killed before they could."""
    for base in hierarchy.folders.values():
        for folder in base.glob("ringfence-*"):
            name = _NAME.fullmatch(folder.name)
            if name is not None and born(int(name["pid"])) != name["born"]:
                with suppress(OSError):  # somebody still dies in it, or another host was first
                    folder.rmdir()


class Lent:
    """One group while a process has it."""

    def __init__(self, group: cgroups.Group, *, name: str) -> None:
        self.group = group
        self.kills_before = 0
        self.doors = tuple(map(str, cgroups.doors(group)))
        self._name = name
        self._hierarchies = len(group.places)

    def take_in(self, pid: int) -> None:
        """Move a process into the group; OSError where it is gone."""
        cgroups.attach(self.group, pid=pid)

    def holds(self, pid: int) -> bool:
        """Whether the kernel shows the process in this group, in every hierarchy that has it."""
        return cgroups.count_memberships(pid, name=self._name) == self._hierarchies


@contextmanager
def open_doors(lent: Lent | None) -> Generator[list[int]]:
    """Descriptors through which a process enters; it is cheaper for it to move itself than to be moved."""
    opened = [os.open(door, os.O_WRONLY | os.O_CLOEXEC) for door in lent.doors] if lent else []
    try:
        yield opened
    finally:
        for descriptor in opened:
            os.close(descriptor)


@dataclass(frozen=True, kw_only=True)
class Used:
    """What the group measured for one call."""

    memory_kills: int


@dataclass(kw_only=True)
class Groups:
    """Groups of one jail, made when needed, kept for its next call, removed at the end."""

    hierarchy: cgroups.Hierarchy
    memory_bytes: int
    processes: int
    _free: list[Lent] = field(default_factory=list[Lent])
    _all: list[Lent] = field(default_factory=list[Lent])

    def lend(self) -> Lent | None:
        """A group; None where no controller is delegated to this process."""
        folders = self.hierarchy.folders
        if not folders:
            return None
        if self._free:
            return self._free.pop()
        limits = cgroups.GroupLimits(
            memory_bytes=self.memory_bytes if "memory" in folders else None,
            processes=self.processes if "pids" in folders else None,
        )
        name = f"{_prefix_of(os.getpid())}{next(_numbers)}"
        lent = Lent(cgroups.create(self.hierarchy, name=name, limits=limits), name=name)
        self._all.append(lent)
        return lent

    def used(self, lent: Lent) -> Used:
        """What the group measured since it was last asked."""
        kills = cgroups.memory_kills(lent.group) or 0
        used = Used(memory_kills=kills - lent.kills_before)
        lent.kills_before = kills
        return used

    def give_back(self, lent: Lent) -> None:
        """Take a group back whose last process is gone."""
        self._free.append(lent)

    async def close(self) -> None:
        """Remove every group once its last process is gone; OSError where one does not go though it was killed."""
        self._free.clear()
        until = time.monotonic() + _SECONDS_TO_LEAVE
        while self._all:
            if cgroups.kill(self._all[-1].group) and time.monotonic() < until:
                await asyncio.sleep(_PAUSE)
                continue
            cgroups.remove(self._all[-1].group)
            self._all.pop()
