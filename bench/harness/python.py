"""The interpreter that really runs, and fresh processes of it.

Takes: an environment's `python` and its arguments.  Gives: command lines and sides that start a process per call.
Never: goes through a version manager's shim, whose shell script would be half of what is measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns, sleep
from typing import Literal

from bench.harness.sides import Pace

ROOT = Path(__file__).resolve().parents[2]


def real_binary(python: str) -> str:
    """The binary behind an environment's `python`: links followed, scripts refused."""
    found = os.path.realpath(python)
    if _is_script(found):
        found = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    if _is_script(found):
        found = os.path.realpath("/proc/self/exe")
    return found


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


@dataclass(frozen=True, kw_only=True)
class Fresh:
    """A new process for each call; timed from outside, or by the number of nanoseconds that it prints.

    With a pause, each comes as long after the one before as on the other side.
    """

    name: str
    arguments: tuple[str, ...]
    timed: Literal["outside", "inside"]
    python: str = sys.executable
    pause: float = 0

    def times(self, calls: int) -> Sequence[int]:
        return [self._once() for _ in range(calls)]

    def pace(self, seconds: float) -> Pace:
        began, calls = perf_counter_ns(), 0
        while perf_counter_ns() - began < seconds * 1e9:
            self._once()
            calls += 1
        return Pace(calls, perf_counter_ns() - began)

    def _once(self) -> int:
        sleep(self.pause)
        before = perf_counter_ns()
        # The name it is called by stays the environment's, by which the binary finds the environment's packages.
        done = subprocess.run(
            [self.python, *self.arguments],
            executable=real_binary(self.python),
            cwd=ROOT,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=True,
        )
        taken = perf_counter_ns() - before
        return taken if self.timed == "outside" else int(done.stdout)


def can_import(module: str, *, python: str = sys.executable) -> bool:
    """Whether an environment has a module; tried in a process of its own."""
    tried = subprocess.run(
        [python, "-I", "-W", "ignore", "-c", f"import {module}"], cwd=ROOT, capture_output=True, check=False
    )
    return tried.returncode == 0
