"""JAIL-3: the same nothing in other sandboxes, taking turns with a jailed call of ours.

Takes: the side that makes warm jailed calls.  Gives: rows.  Never: counts the start of a launcher that stays up, or
measures a peer at another time than ours, or with a slower interpreter than this machine has.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter_ns

from bench.harness.python import real_binary
from bench.harness.rows import Row, at_least
from bench.harness.samples import Samples
from bench.harness.sides import Pace, Side
from bench.harness.worker import PEERS as PEERS_PYTHON
from bench.harness.worker import Worker
from bench.peers.bubblewrap import BUBBLEWRAP
from bench.peers.ground import SYSTEM_PYTHON
from bench.peers.peer import Absent, Peer, look_for
from bench.peers.sandlock_peer import SANDLOCK
from bench.peers.srt import CLI, SRT, node, settings

# A peer's turn takes a hundred times as long as ours: fewer rounds, and several calls of ours in each.
ROUNDS, WARM_UP, OURS_A_ROUND = 40, 2, 5
SCRIPT = "print('{}')"
GOALS: tuple[tuple[Peer, float], ...] = ((BUBBLEWRAP, 30.0), (SANDLOCK, 50.0), (SRT, 300.0))


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command for each call, timed from outside."""

    name: str
    words: tuple[str, ...]

    def times(self, calls: int) -> Sequence[int]:
        return [self._once() for _ in range(calls)]

    def pace(self, seconds: float) -> Pace:
        began, calls = perf_counter_ns(), 0
        while perf_counter_ns() - began < seconds * 1e9:
            self._once()
            calls += 1
        return Pace(calls, perf_counter_ns() - began)

    def _once(self) -> int:
        before = perf_counter_ns()
        done = subprocess.run(self.words, capture_output=True, stdin=subprocess.DEVNULL, text=True, check=True)
        taken = perf_counter_ns() - before
        if done.stdout.strip() != "{}":
            raise RuntimeError(f"`{self.name}` did not run the script: {done.stdout}{done.stderr}")
        return taken


def measure(ours: Side) -> Iterator[Row]:
    """One row for each peer that has a goal; one that is absent says why."""
    absent = {peer.name: found.reason for peer, _ in GOALS if isinstance(found := look_for(peer), Absent)}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sides = [_side(peer, folder=folder, stack=stack) for peer, _ in GOALS if peer.name not in absent]
        taken = interleaved(ours, sides) if sides else {}
    for peer, times_faster in GOALS:
        what, goal = f"warm call, times faster than {peer.name}", at_least(times_faster)
        if peer.name in absent:
            yield Row(id="JAIL-3", what=what, baseline=peer.name, goal=goal, measured=None, detail=absent[peer.name])
            continue
        theirs, warm = taken[peer.name], taken[ours.name]
        detail = f"{warm} ({len(warm.ordered)} calls) beside {theirs} ({len(theirs.ordered)} calls of {quickest()})"
        measured = theirs.p50 / warm.p50
        yield Row(id="JAIL-3", what=what, baseline=peer.name, goal=goal, measured=measured, detail=detail)


def interleaved(ours: Side, theirs: Sequence[Side], *, rounds: int = ROUNDS) -> dict[str, Samples]:
    """Every side has a turn in each round, and each round begins with the next side."""
    sides = (ours, *theirs)
    taken: dict[str, list[int]] = {side.name: [] for side in sides}
    for turn in range(WARM_UP + rounds):
        first = turn % len(sides)
        for side in (*sides[first:], *sides[:first]):
            times = side.times(OURS_A_ROUND if side is ours else 1)
            taken[side.name] += times if turn >= WARM_UP else []
    return {name: Samples.of(times) for name, times in taken.items()}


@cache
def quickest() -> str:
    """The interpreter that starts soonest, ours or the system's: a peer starts one for each call, ours only forks."""
    known = {real_binary(sys.executable), *filter(os.path.exists, [SYSTEM_PYTHON])}
    sides = [Command(name=python, words=(python, "-I", "-c", SCRIPT)) for python in sorted(known)]
    return min(sides, key=lambda side: min(side.times(5))).name


def _side(peer: Peer, *, folder: Path, stack: ExitStack) -> Side:
    inner = (quickest(), "-I", "-c", SCRIPT)
    if peer is SANDLOCK:
        worker = stack.enter_context(Worker("bench.peers.sandlock_side", python=str(PEERS_PYTHON)))
        return worker.side("noop", name=peer.name)
    if peer is BUBBLEWRAP:
        options = ("--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
        return Command(name=peer.name, words=("bwrap", *options, *inner))
    file = folder / "settings.json"
    shown = ["/usr", sys.base_prefix, str(CLI.parents[1])]
    file.write_text(settings(readable=shown, writable=[str(folder)]), encoding="utf-8")
    return Command(name=peer.name, words=(node(), str(CLI), "--settings", str(file), "-c", shlex.join(inner)))
