"""A house on a disk that fills up, in a mount namespace of its own; prints what happened, as JSON.

Takes: which database, and the folder that is the small disk.  Gives: counts.
Never: cleans up after itself; the disk is gone with the namespace.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly.assemble import utc_now
from ringfence.execution.sandbox import Job, RawOutput
from ringfence.runtime.invocation import Status
from tests.acceptance.spine.household import Clock, config, open_house, scripted
from tests.cluster import Cluster, running_cluster

# A scripted jail is refused where no test runs.
assert pytest.__version__

_LARGE = "x" * 8_000


class Disk:
    """A folder on a small disk, and a file that takes what is left of it."""

    def __init__(self, folder: Path) -> None:
        self._ballast = folder / "ballast"
        self._folder = folder

    def fill(self, *, leaving: int = 0) -> None:
        free = os.statvfs(self._folder)
        with self._ballast.open("ab", buffering=0) as file:
            left = free.f_bavail * free.f_frsize - leaving
            while left > 0:
                try:
                    left -= file.write(b"\0" * min(left, 65_536))
                except OSError:
                    return

    def empty(self) -> None:
        self._ballast.unlink()


def _up(cluster: Cluster | None) -> None:
    """A server that gave up for want of space is started by whoever watches it, as any is."""
    if cluster is not None:
        try:
            cluster.execute("SELECT 1")
        except Exception:  # it is down
            cluster.start()


async def full_before_a_call(settings: dict[str, Any], disk: Disk, cluster: Cluster | None) -> dict[str, Any]:
    """Calls until nothing can be written, then room again."""
    told = Counter[str]()
    async with open_house(settings, clock=Clock(at=utc_now())) as house:
        disk.fill(leaving=512 * 1024)
        for number in range(400):
            outcome = await house.call("draft", {"title": f"{number}{_LARGE}"})
            told[getattr(outcome, "code", outcome.status)] += 1
            if told["trail_unavailable"] >= 3:
                break
        ran = len(house.ran)
        disk.empty()
        await asyncio.to_thread(_up, cluster)
        after = await house.call("draft", {"title": "after"})
        calls = await house.runtime.calls.list(limit=1_000)
        verified = (await house.runtime.audit.verify()).ok
    started = sum(call.status in (Status.COMPLETED, Status.RUNNING, Status.IN_DOUBT) for call in calls)
    return {
        "told": dict(told),
        "ran": ran,
        "on_record": started - 1,
        "after": after.status,
        "verified": verified,
    }


async def full_while_a_tool_runs(settings: dict[str, Any], disk: Disk, cluster: Cluster | None) -> dict[str, Any]:
    """The disk fills up between the start of a call and its end."""
    clock, jail = Clock(at=utc_now()), scripted()
    plain = jail.run

    async def filling(job: Job) -> RawOutput:
        disk.fill()
        return await plain(job)

    jail.run = filling  # type: ignore[method-assign]
    async with open_house(settings, clock=clock, sandbox=jail) as house:
        outcome = await house.session().call("draft", {"title": f"y{_LARGE}"}, idempotency_key="k")
        disk.empty()
        await asyncio.to_thread(_up, cluster)
    clock.forward(timedelta(minutes=2))
    async with open_house(settings, clock=clock) as later:
        again = await later.session().call("draft", {"title": f"y{_LARGE}"}, idempotency_key="k")
        verified = (await later.runtime.audit.verify()).ok
        return {
            "told": getattr(outcome, "code", outcome.status),
            "again": getattr(again, "code", again.status),
            "ran_again": len(later.ran),
            "verified": verified,
        }


async def main(database: str, folder: Path) -> None:
    with ExitStack() as stack:
        disk, sections, cluster = Disk(folder), {}, None
        if database == "postgres":
            cluster = stack.enter_context(running_cluster())
            sections = {"store": {"url": cluster.url("furnished", user="person")}}
        state = folder / "house"
        state.mkdir()
        settings: dict[str, Any] = config(state, **sections)
        first = await full_before_a_call(settings, disk, cluster)
        second = await full_while_a_tool_runs(settings, disk, cluster)
        print(json.dumps({"before": first, "while": second}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
