"""A side in a process of its own: its own packages, its own heap, the same clock.

Takes: a module under `bench.sides` and an environment's `python`.  Gives: a `Side` that asks that process.
Never: counts the way to the process and back; each process times its own calls.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import IO, Any, cast

from bench.harness.python import ROOT, can_import, real_binary
from bench.harness.sides import Local, Pace, Side

PEERS = ROOT / ".venv" / "peers" / "bin" / "python"


class WorkerLost(RuntimeError):
    """The other process ended before it answered."""


class Worker:
    """One process that holds several sides, each known by its name there."""

    def __init__(
        self,
        module: str,
        *,
        python: str = sys.executable,
        uid: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            [python, "-W", "ignore", "-m", module],
            executable=real_binary(python),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            user=uid,
            group=uid,
            extra_groups=None if uid is None else [],
            env=environment,
        )
        self._questions = cast("IO[str]", self._process.stdin)
        self._answers = cast("IO[str]", self._process.stdout)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

    def side(self, function: str, *, name: str) -> Remote:
        return Remote(self, function, name=name)

    def ask(self, function: str, measure: str, amount: float) -> Any:
        self._questions.write(json.dumps([function, measure, amount]) + "\n")
        self._questions.flush()
        answer = self._answers.readline()
        if not answer:
            raise WorkerLost(f"the process of `{function}` ended without an answer")
        return json.loads(answer)


class Remote:
    """A function of a worker's process."""

    def __init__(self, worker: Worker, function: str, *, name: str) -> None:
        self._worker = worker
        self._function = function
        self.name = name

    def times(self, calls: int) -> Sequence[int]:
        times: list[int] = self._worker.ask(self._function, "times", calls)
        return times

    def pace(self, seconds: float) -> Pace:
        return Pace(*self._worker.ask(self._function, "pace", seconds))

    def evidence(self) -> str:
        """What that process knows of whoever served the last call of this side."""
        told: str = self._worker.ask(self._function, "evidence", 0)
        return told


def serve(functions: Mapping[str, Callable[[], Any]]) -> None:
    """Answer on standard output until standard input ends; what a module under `bench.sides` runs as its main."""
    serve_sides({name: Local(name=name, function=function) for name, function in functions.items()})


def serve_sides(sides: Mapping[str, Side], *, evidence: Callable[[str], str] = str) -> None:
    """The same for sides that time themselves; `evidence` of a side is who served its last call."""
    for line in sys.stdin:
        name, measure, amount = json.loads(line)
        sys.stdout.write(json.dumps(_answer(name, measure, amount, sides=sides, evidence=evidence)) + "\n")
        sys.stdout.flush()


def _answer(
    name: str, measure: str, amount: Any, *, sides: Mapping[str, Side], evidence: Callable[[str], str]
) -> Sequence[int] | Pace | str:
    if measure == "evidence":
        return evidence(name)
    return sides[name].times(amount) if measure == "times" else sides[name].pace(amount)


def find_peer(module: str) -> str | None:
    """The `python` of an environment that has a peer: this one, or the one that `scripts/bench_peers` makes."""
    candidates = [sys.executable, *([str(PEERS)] if PEERS.exists() else [])]
    return next((python for python in candidates if can_import(module, python=python)), None)
