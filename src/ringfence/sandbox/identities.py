"""Which host ids a jail's processes run as: ids that nobody else on this machine has.

Takes: a range from the configuration.  Gives: an unused uid per jail for root, the own uid for everybody else.
Never: takes an id that an account, a subordinate range or a running process holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ringfence.errors import CallRefused

DEFAULT_RANGE = range(2_000_000_000, 2_000_065_536)
_REMEDY = "name a range of unused ids for jails in the configuration"


@dataclass(frozen=True, kw_only=True)
class Accounts:
    """Where this machine writes down who has which id."""

    root: Path = Path("/")

    def taken(self) -> list[range]:
        """Every id that is spoken for, as ranges."""
        found = [range(uid, uid + 1) for uid in (*self._listed("etc/passwd"), *self._listed("etc/group"))]
        found += [*self._subordinate("etc/subuid"), *self._subordinate("etc/subgid"), *self._running()]
        return found

    def mapped(self) -> list[range]:
        """The ids that exist in this user namespace at all."""
        lines = (self.root / "proc/self/uid_map").read_text().splitlines()
        rows = [tuple(map(int, line.split())) for line in lines]
        return [range(inside, inside + count) for inside, _, count in rows]

    def _listed(self, name: str) -> Iterator[int]:
        yield from (int(fields[2]) for fields in self._rows(name) if len(fields) > 2 and fields[2].isdigit())

    def _subordinate(self, name: str) -> Iterator[range]:
        for fields in self._rows(name):
            if len(fields) == 3 and fields[1].isdigit() and fields[2].isdigit():
                yield range(int(fields[1]), int(fields[1]) + int(fields[2]))

    def _rows(self, name: str) -> Iterator[list[str]]:
        path = self.root / name
        if path.exists():
            yield from (line.split(":") for line in path.read_text(errors="replace").splitlines())

    def _running(self) -> Iterator[range]:
        for entry in os.scandir(self.root / "proc"):
            if entry.name.isdigit():
                try:
                    owner = entry.stat().st_uid
                except FileNotFoundError:
                    owner = 0
                yield range(owner, owner + 1)


@dataclass(kw_only=True)
class Identities:
    """Ids for jails, each lent to one jail at a time."""

    candidates: range = DEFAULT_RANGE
    accounts: Accounts = field(default_factory=Accounts)
    _free: list[int] = field(default_factory=list[int])
    _lent: set[int] = field(default_factory=set[int])
    _next: int = 0
    _taken: list[range] | None = None

    def lend(self) -> tuple[int, int]:
        """A uid and gid for one jail."""
        if os.geteuid() != 0:
            return os.geteuid(), os.getegid()
        uid = self._free.pop() if self._free else self._fresh()
        self._lent.add(uid)
        return uid, uid

    def give_back(self, uid: int) -> None:
        """Take an id back; one that was never lent, as an owner's, is not lent to anybody."""
        if uid in self._lent:
            self._lent.remove(uid)
            self._free.append(uid)

    def _fresh(self) -> int:
        if self._taken is None:
            self._taken = self.accounts.taken()
        mapped = self.accounts.mapped()
        while self._next < len(self.candidates):
            uid = self.candidates[self._next]
            self._next += 1
            if any(uid in ids for ids in mapped) and not any(uid in ids for ids in self._taken):
                return uid
        message = f"no unused id is left between `{self.candidates.start}` and `{self.candidates.stop}`"
        raise CallRefused(message, code="posture_insufficient", remedy=_REMEDY)
