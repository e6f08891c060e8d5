"""The baseline of every jail figure: `os.fork()`, a JSON reply, `waitpid`, with the modules that a jailed tool has.

Takes: questions of the bench.  Gives: times of one fork, and forks a second on all cores.
Never: runs in a process that is lighter or heavier than the one that the jail forks from.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial

import ringfence.inside.forkserver  # noqa: F401 - loads what the process has from which every jail is born
from bench.harness.sides import PAUSE, Local, Pace
from bench.harness.worker import serve_sides
from bench.sides import jail_tools

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a tmpfs, as a jail's scratch is one


def fork_once() -> None:
    """A child says one thing and ends; its parent hears it and waits."""
    heard, said = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(said, json.dumps({"output": 0}).encode())
        os._exit(0)
    os.close(said)
    json.loads(os.read(heard, 4096))
    os.close(heard)
    os.waitpid(pid, 0)


class EveryCore:
    """The same, in one loop per core at once."""

    name = "fork on every core"

    def times(self, calls: int) -> list[int]:
        """What one fork costs each of them while all of them fork."""
        pace = self.pace(calls / 1000)
        return [pace.taken // max(1, pace.calls)] * calls

    def pace(self, seconds: float) -> Pace:
        loops = [self._loop(seconds) for _ in range(os.cpu_count() or 1)]
        counted = [Pace(*json.loads(_read_all(end))) for end, _ in loops]
        for _, pid in loops:
            os.waitpid(pid, 0)
        return Pace(sum(pace.calls for pace in counted), max(pace.taken for pace in counted))

    def _loop(self, seconds: float) -> tuple[int, int]:
        heard, said = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(said, json.dumps(Local(name="fork", function=fork_once).pace(seconds)).encode())
            os._exit(0)
        os.close(said)
        return heard, pid


class InChild:
    """Work in a fresh child, timed by the child: as new to its memory as a jailed call is, and not jailed."""

    def __init__(self, name: str, work: Callable[[], float]) -> None:
        self.name = name
        self._work = work

    def times(self, calls: int) -> list[int]:
        return [self._once() for _ in range(calls)]

    def pace(self, seconds: float) -> Pace:
        taken = self._once()
        return Pace(1, taken)

    def _once(self) -> int:
        heard, said = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(said, json.dumps(int(self._work() * 1e9)).encode())
            os._exit(0)
        os.close(said)
        taken: int = json.loads(_read_all(heard))
        os.waitpid(pid, 0)
        return taken


def _read_all(end: int) -> bytes:
    with os.fdopen(end, "rb") as stream:
        return stream.read()


if __name__ == "__main__":
    outside: dict[str, Callable[[], float]] = {
        "compute": jail_tools.time_of_computing,
        "allocate": jail_tools.time_of_allocating,
        "small_files": partial(jail_tools.time_of_small_files, SHARED_MEMORY),
    }
    serve_sides(
        {
            "fork": Local(name="fork", function=fork_once),
            "fork after a pause": Local(name="fork after a pause", function=fork_once, pause=PAUSE),
            "every core": EveryCore(),
            **{name: InChild(name, work) for name, work in outside.items()},
        }
    )
