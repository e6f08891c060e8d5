"""EDGE-1: what the edge costs, beside the same connection made directly over loopback.

Takes: a far side, a program beside it, and the same program behind an edge of its own.  Gives: rows.
Never: compares two runs; sides take turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from bench.harness.python import ROOT
from bench.harness.rounds import alternate, round_robin
from bench.harness.rows import Goal, Row, at_least, at_most
from bench.harness.worker import Worker

_PROGRAM = "bench.sides.edge_program"
_LARGE = (
    ("128 MiB, TLS end to end", "opaque", "tls", at_least(0.7)),
    ("128 MiB, plain", "opaque", "plain", at_least(0.5)),
    ("128 MiB, TLS read by the edge", "inspected", "tls", at_least(0.3)),
)
_SMALL = (
    ("200 bytes on a new connection, TLS", "opaque", "tls", at_most(1.8)),
    ("200 bytes on a new connection, plain", "opaque", "plain", at_most(2.5)),
    ("200 bytes on a new connection, TLS read by the edge", "inspected", "tls", None),
)


def measure() -> Iterator[Row]:
    if os.geteuid() != 0:
        yield from (_unmeasured(row) for row in (*_LARGE, *_SMALL))
        return
    with tempfile.TemporaryDirectory() as folder, _far(folder) as ports, ExitStack() as stack:
        workers = {
            way: stack.enter_context(Worker(_PROGRAM, environment=_environment(way, folder, ports)))
            for way in ("direct", "opaque", "inspected")
        }
        yield from _large(workers)
        yield from _small(workers)


def _large(workers: dict[str, Worker]) -> Iterator[Row]:
    for what, way, kind, goal in _LARGE:
        sides = [workers[each].side(f"{kind}_large", name=each) for each in ("direct", way)]
        pace = alternate(sides, slices=6, seconds=0.5)
        detail = f"{pace[way] * 128:.0f} beside {pace['direct'] * 128:.0f} MiB/s"
        yield _row(what, goal=goal, measured=pace[way] / pace["direct"], detail=detail)


def _small(workers: dict[str, Worker]) -> Iterator[Row]:
    for what, way, kind, goal in _SMALL:
        sides = [workers[each].side(f"{kind}_small", name=each) for each in ("direct", way)]
        taken = round_robin(sides, calls=5)
        detail = f"p50 {taken[way].p50 / 1e6:.2f} beside {taken['direct'].p50 / 1e6:.2f} ms"
        yield _row(what, goal=goal, measured=taken[way].p50 / taken["direct"].p50, detail=detail)


def _row(what: str, *, goal: Goal | None, measured: float | None, detail: str) -> Row:
    return Row(id="EDGE-1", what=what, baseline="direct over loopback", goal=goal, measured=measured, detail=detail)


def _unmeasured(row: tuple[str, str, str, Goal | None]) -> Row:
    return _row(row[0], goal=row[3], measured=None, detail="to make a network of its own the program needs root here")


def _environment(way: str, folder: str, ports: Sequence[str]) -> dict[str, str]:
    return {**os.environ, "EDGE_BENCH": " ".join((way, folder, *ports))}


@contextmanager
def _far(folder: str) -> Generator[Sequence[str], None, None]:
    command = [sys.executable, "-m", "bench.sides.edge_far", folder]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as far:
        if far.stdout is None:
            raise RuntimeError("the far side says nothing")
        yield far.stdout.readline().split()
        far.communicate()
