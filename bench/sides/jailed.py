"""Jailed calls through `session.call` with the shipped defaults, timed at the sandbox and end to end.

Takes: questions of the bench.  Gives: times, rates, memory, and the evidence that the host kept of the last call.
Never: goes round the pipeline; what is timed at the sandbox is timed on the way of a governed call.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Coroutine, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Literal

from bench.harness.sides import LEAD_IN, PAUSE, SETTLED, Pace
from bench.harness.worker import serve_sides
from bench.sides.memory import private_memory
from ringfence.assembly import open_runtime
from ringfence.execution.sandbox import Job, RawOutput
from ringfence.runtime import Completed, Runtime, Session
from ringfence.sandbox.local import LocalProcessSandbox

COLD_AGENTS = 260
AT_ONCE = 8

_run = LocalProcessSandbox.run
_taken_at_sandbox: list[int] = []
_taken_by_reply: list[int] = []
_evidence_of_last: dict[str, Any] = {}


async def _timed_run(self: LocalProcessSandbox, job: Job) -> RawOutput:
    before = time.perf_counter_ns()
    raw = await _run(self, job)
    _taken_at_sandbox.append(time.perf_counter_ns() - before)
    _taken_by_reply.append(round(raw.effects.wall_seconds * 1e9))
    _evidence_of_last.update(raw.evidence)
    return raw


class World:
    """One open runtime and the loop it lives on."""

    def __init__(self, loop: asyncio.AbstractEventLoop, runtime: Runtime) -> None:
        self._loop = loop
        self._runtime = runtime
        self.bench = self.session("bench")
        self.newcomers = self._newcomers()

    def session(self, agent: str) -> Session:
        return self._runtime.session(agent=agent)

    def wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)

    def _newcomers(self) -> Iterator[Session]:
        """Sessions of agents that have called nothing yet, so that each needs a jail of its own."""
        yield from (self.session(f"cold-{number}") for number in range(COLD_AGENTS))


class Calls:
    """Calls of one tool, one after the other; `at` says where the stopwatch is."""

    def __init__(
        self,
        world: World,
        *,
        tool: str,
        at: Literal["reply", "sandbox", "caller", "tool"],
        pause: float,
        who: str = "bench",
        numbered: bool = False,
    ) -> None:
        self.name = f"{tool} at {at}"
        self._world = world
        self._tool = tool
        self._pause = pause
        self._at = at
        self._who = who
        self._numbers = count() if numbered else None
        self._served: dict[str, Any] = {}

    def times(self, calls: int) -> Sequence[int]:
        times: list[int] = self._world.wait(self._times(calls))
        self._served = dict(_evidence_of_last)
        return times

    def pace(self, seconds: float) -> Pace:
        pace: Pace = self._world.wait(self._pace(seconds))
        self._served = dict(_evidence_of_last)
        return pace

    def evidence(self) -> str:
        """In which blueprint the last call was served, and the process that served it as the host saw it."""
        return f"in {self._served['blueprint']} by {self._served['process']}"

    async def _times(self, calls: int) -> list[int]:
        if self._pause and self._who == "bench":
            for _ in range(LEAD_IN):
                await self._one()
        return [await self._one() for _ in range(calls)]

    async def _one(self) -> int:
        await asyncio.sleep(self._pause)
        session = self._world.bench if self._who == "bench" else next(self._world.newcomers)
        _taken_at_sandbox.clear()
        _taken_by_reply.clear()
        before = time.perf_counter_ns()
        outcome = await session.call(self._tool, self._arguments())
        whole = time.perf_counter_ns() - before
        if not isinstance(outcome, Completed):
            raise RuntimeError(f"the bench's own call did not complete: {outcome}")
        if self._at == "tool":
            return int(outcome.output * 1e9)
        return {"reply": _taken_by_reply[-1], "sandbox": _taken_at_sandbox[-1], "caller": whole}[self._at]

    def _arguments(self) -> dict[str, int]:
        """The same write twice in one turn is one call with one recorded result; numbered ones all run."""
        return {} if self._numbers is None else {"number": next(self._numbers)}

    async def _pace(self, seconds: float) -> Pace:
        before = time.perf_counter_ns()
        end = before + int(seconds * 1e9)
        counts = await asyncio.gather(*(self._until(end) for _ in range(AT_ONCE)))
        return Pace(sum(counts), time.perf_counter_ns() - before)

    async def _until(self, end: int) -> int:
        calls = 0
        while time.perf_counter_ns() < end:
            await self._world.bench.call(self._tool, self._arguments())
            calls += 1
        return calls


class Facts:
    """What is no time: private bytes of a call and of a zygote."""

    name = "facts"

    def times(self, calls: int) -> Sequence[int]:
        return list(private_memory())[:calls]

    def pace(self, seconds: float) -> Pace:
        return Pace(*private_memory())


def configuration(folder: Path) -> dict[str, Any]:
    """The shipped defaults, with agents enough for calls into jails that nobody has built yet."""
    agents = ["bench", *(f"cold-{number}" for number in range(COLD_AGENTS))]
    return {
        "version": 1,
        "tools": {"modules": ["jail_tools", "network_tools"], "path": [str(Path(__file__).parent)]},
        "people": {"bench": {"roles": ["operator"]}},
        "agents": {name: {"allowed_tools": ["*"], "network": {"allow": ["api.example.com"]}} for name in agents},
        "sandbox": {"kind": "local"},
        "store": {"url": f"sqlite:///{folder}/ringfence.db"},
        "audit": {"anchor": f"{folder}/anchor.log", "signing_key": f"{folder}/audit.key"},
    }


async def _open(folder: Path) -> tuple[Any, Runtime]:
    # Accepted by an operator, so that a tool that writes needs nobody's vote.
    opening = open_runtime(configuration(folder), accept_as="bench")
    return opening, await opening.__aenter__()


def main() -> None:
    LocalProcessSandbox.run = _timed_run  # type: ignore[method-assign]
    loop = asyncio.new_event_loop()
    with tempfile.TemporaryDirectory() as folder:
        opening, runtime = loop.run_until_complete(_open(Path(folder)))
        world = World(loop, runtime)
        read, write = "nothing", "nothing_written"
        calls = {
            "warm": Calls(world, tool=read, at="reply", pause=PAUSE),
            "whole": Calls(world, tool=read, at="sandbox", pause=PAUSE),
            "dry": Calls(world, tool=read, at="sandbox", pause=0),
            "dry, with a way out": Calls(world, tool="nothing_dialled", at="sandbox", pause=0),
            "governed read": Calls(world, tool=read, at="caller", pause=PAUSE),
            "governed write": Calls(world, tool=write, at="caller", pause=PAUSE, numbered=True),
            "cold": Calls(world, tool=read, at="sandbox", pause=SETTLED, who="newcomers"),
            **{name: Calls(world, tool=name, at="tool", pause=0) for name in ("compute", "allocate", "small_files")},
        }
        serve_sides({**calls, "facts": Facts()}, evidence=lambda name: calls[name].evidence())
        loop.run_until_complete(opening.__aexit__(None, None, None))
    loop.close()


if __name__ == "__main__":
    main()
