"""Who belongs to a host's jails, as /proc and the control groups show it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ringfence.kernel import cgroups
from ringfence.sandbox.jail import Jail
from tests.integration.sandbox.driver import Yard

# So often in a row, a hundredth of a second apart, a family looks the same before it counts as settled.
_LOOKS = 20


def descendants() -> set[int]:
    """Every living process below this one."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                fields = ["Z", "0"]
            if fields[0] != "Z":
                parents[int(name)] = int(fields[1])
    found: set[int] = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def groups() -> set[Path]:
    mine = f"ringfence-{os.getpid()}-*"
    return {path for folder in cgroups.find().folders.values() for path in folder.glob(mine)}


async def until(holds: Callable[[], bool]) -> None:
    """Give the kernel a moment to finish; the suite's own time-out bounds it."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110  the kernel tells nobody
            await asyncio.sleep(0.01)


def has_ended(pid: int) -> bool:
    """Whether no line of its program runs any more; whoever has to may still be about to take note of it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def jail_of(evidence: Mapping[str, Any], yard: Yard) -> Jail:
    warden = evidence["process"]["parent"]
    (jail,) = [jail for jail in yard.pool.jails() if jail.opened.posture.zygote.status.parent == warden]
    return jail


def members(jail: Jail) -> dict[str, int]:
    zygote = jail.opened.posture.zygote
    warden = zygote.status.parent
    server = int(Path(f"/proc/{warden}/stat").read_text().rpartition(")")[2].split()[1])
    return {"zygote": zygote.pid, "warden": warden, "fork server": server}


async def called(yard: Yard, *, times: int) -> tuple[int, int]:
    """Call a tool so often; gives the warden and the zygote of the jail that served it."""
    wardens = {(await yard.run("add", {"a": 1, "b": 2})).evidence["process"]["parent"] for _ in range(times)}
    zygotes = [jail.opened.posture.zygote for jail in yard.pool.jails()]
    (zygote,) = [each for each in zygotes if each.status.parent in wardens]
    return zygote.status.parent, zygote.pid


async def settled(warden: int, *, zygote: int, processes: int) -> set[int]:
    """The processes that wait, once they are this many and stay the same: whoever serves or dies counts for a while."""
    seen: list[set[int]] = []

    def unchanged() -> bool:
        seen.append(set(waiting_in(warden, zygote=zygote)))
        return len(seen[-1]) == processes and len(seen) >= _LOOKS and all(each == seen[-1] for each in seen[-_LOOKS:])

    await until(unchanged)
    return seen[-1]


def waiting_in(warden: int, *, zygote: int) -> list[int]:
    return [pid for pid in descendants() if parent_of(pid) == warden and pid != zygote]


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
