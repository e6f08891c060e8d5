"""Control groups lent to calls, one at a time: a bound on what a call's whole tree uses, and what it used.

Takes: the groups this process may make.  Gives: a group with a limit, empty and at zero.  Never: lends one that
somebody still lives in.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, field

from ringfence.kernel import cgroups


@dataclass(eq=False, kw_only=True)
class Lent:
    """One group while a call has it."""

    group: cgroups.Group
    limits: cgroups.GroupLimits
    kills_before: int = 0


@dataclass(frozen=True, kw_only=True)
class Used:
    """What the group measured for one call."""

    peak_memory_bytes: int | None
    memory_kills: int


@dataclass(kw_only=True)
class Groups:
    """Groups of this host, made when needed, kept for the next call, removed at the end."""

    hierarchy: cgroups.Hierarchy
    _free: dict[cgroups.GroupLimits, list[Lent]] = field(default_factory=dict[cgroups.GroupLimits, list[Lent]])
    _all: list[Lent] = field(default_factory=list[Lent])
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def controllers(self) -> tuple[str, ...]:
        return tuple(sorted(self.hierarchy.folders))

    def lend(self, *, memory_bytes: int, processes: int) -> Lent | None:
        """A group with these bounds; None where no controller is delegated to this process."""
        folders = self.hierarchy.folders
        if not folders:
            return None
        limits = cgroups.GroupLimits(
            memory_bytes=memory_bytes if "memory" in folders else None,
            processes=processes if "pids" in folders else None,
        )
        free = self._free.setdefault(limits, [])
        if free:
            return free.pop()
        name = f"ringfence-{os.getpid()}-{next(self._numbers)}"
        lent = Lent(group=cgroups.create(self.hierarchy, name=name, limits=limits), limits=limits)
        self._all.append(lent)
        return lent

    def give_back(self, lent: Lent) -> Used:
        """Take a group back and say what it measured; one that cannot be set to zero is not lent again."""
        usage = cgroups.read_usage(lent.group)
        kills = usage.memory_kills or 0
        used = Used(peak_memory_bytes=usage.peak_memory_bytes, memory_kills=kills - lent.kills_before)
        lent.kills_before = kills
        if cgroups.forget_peak(lent.group):
            self._free.setdefault(lent.limits, []).append(lent)
        else:
            self._all.remove(lent)
            cgroups.remove(lent.group)
        return used

    def close(self) -> None:
        """Remove every group; OSError where somebody still lives in one."""
        while self._all:
            cgroups.remove(self._all[-1].group)
            self._all.pop()
        self._free.clear()
