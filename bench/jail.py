"""JAIL-1 to JAIL-6, CALL-1: a jail per call, beside a bare fork of the same modules.

Takes: jailed calls and forks, each in a process of its own.  Gives: rows.
Never: times a call that did not go through the whole pipeline with the shipped defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from statistics import fmean

from bench.harness.ordinary import find_ordinary
from bench.harness.python import Fresh
from bench.harness.rounds import Beside, alternate, round_robin, side_by_side
from bench.harness.rows import Goal, Row, at_least, at_most
from bench.harness.samples import Samples
from bench.harness.sides import SETTLED
from bench.harness.worker import Remote, Worker
from bench.peers import noop

FORK = "os.fork(), JSON, waitpid; same modules"
PAUSED = f"{FORK}, after the same pause"
BACK_TO_BACK = 400
# Where memory lies is drawn when a process starts, and moves its rate by up to a tenth: each starts several times.
STARTS = 4
MEBIBYTE = 1 << 20
WORK = {"compute": 0.95, "allocate": 0.95, "small_files": 0.85}


def measure() -> Iterator[Row]:
    with ExitStack() as stack:
        jailed = stack.enter_context(Worker("bench.sides.jailed"))
        forked = stack.enter_context(Worker("bench.sides.forked"))
        warm, whole, read, write = (
            jailed.side(name, name=name) for name in ("warm", "whole", "governed read", "governed write")
        )
        forks = [forked.side(name, name=name) for name in ("fork", "fork after a pause")]
        taken = round_robin([warm, whole, read, write, *forks], calls=1)
        fork, paused = taken["fork"], taken["fork after a pause"]
        yield from _pair("JAIL-1", "warm call, pool full", taken["warm"], fork, p50=0.35, p99=1, served=warm)
        what = "the same, with turn, measuring and end"
        yield _ratio("JAIL-1", what, taken["whole"], fork, goal=None, served=whole)
        governed = list(_governed(taken, read=read, write=write, fork=fork, paused=paused))
        yield from _back_to_back(jailed, forked, what=f"{BACK_TO_BACK} calls back to back")
        yield from _ordinary()
        yield _throughput("dry", what="governed jailed calls a second, all cores", goal=0.5)
        what = "the same with a `Network` need: a network of its own for every call"
        yield _throughput("dry, with a way out", what=what, goal=0.4)
        yield from (replace(row, served=warm.evidence()) for row in noop.measure(warm))
        yield from _memory(jailed)
        yield from _work()
        yield _cold(jailed)
        yield from governed


def _governed(
    taken: Mapping[str, Samples], *, read: Remote, write: Remote, fork: Samples, paused: Samples
) -> Iterator[Row]:
    for what, side, most in (("class read", read, 0.6), ("start on disk first", write, 1.1)):
        ours = taken[side.name]
        # A call that finds the pool full comes after a pause, with cold caches; so does the fork beside it.
        yield _ratio("CALL-1", f"governed call, {what}", ours, paused, goal=at_most(most), baseline=PAUSED, served=side)
        yield _ratio("CALL-1", "the same, beside forks in a row", ours, fork, goal=None, served=side)


def _back_to_back(jailed: Worker, forked: Worker, *, what: str) -> Iterator[Row]:
    dry = jailed.side("dry", name="dry")
    ours, theirs = (Samples.of(side.times(BACK_TO_BACK)) for side in (dry, forked.side("fork", name="fork")))
    yield from _pair("JAIL-1", what, ours, theirs, p50=1, p99=2, served=dry)


def _ordinary() -> Iterator[Row]:
    """JAIL-1 once more, for somebody who is not root."""
    found = find_ordinary()
    what = "as an ordinary user: warm call, pool full"
    if isinstance(found, str):
        yield Row(id="JAIL-1", what=what, baseline=FORK, goal=at_most(0.35), measured=None, detail=found)
        return
    with found.worker("bench.sides.jailed") as jailed, found.worker("bench.sides.forked") as forked:
        warm = jailed.side("warm", name="warm")
        taken = round_robin([warm, forked.side("fork", name="fork")], calls=1)
        yield from _pair("JAIL-1", what, taken["warm"], taken["fork"], p50=0.35, p99=1, served=warm)
        yield from _back_to_back(jailed, forked, what=f"as an ordinary user: {BACK_TO_BACK} calls back to back")


def _pair(id: str, what: str, ours: Samples, fork: Samples, *, p50: float, p99: float, served: Remote) -> Iterator[Row]:
    yield _ratio(id, f"{what}, p50", ours, fork, goal=at_most(p50), served=served)
    yield Row(
        id=id,
        what=f"{what}, p99",
        baseline=FORK,
        goal=at_most(p99),
        measured=ours.p99 / fork.p99,
        detail=f"{ours} beside {fork}",
        served=served.evidence(),
    )


def _ratio(
    id: str,
    what: str,
    ours: Samples,
    theirs: Samples,
    *,
    goal: Goal | None,
    baseline: str = FORK,
    served: Remote,
) -> Row:
    return Row(
        id=id,
        what=what,
        baseline=baseline,
        goal=goal,
        measured=ours.p50 / theirs.p50,
        detail=f"{ours} beside {theirs}",
        served=served.evidence(),
    )


def _throughput(calls: str, *, what: str, goal: float) -> Row:
    starts = [_rates_of_one_start(calls) for _ in range(STARTS)]
    rates, (*_, served) = zip(*starts, strict=True)
    jailed, forked = (fmean(each[side] for each in rates) for side in ("jailed", "forked"))
    ratios = sorted(each["jailed"] / each["forked"] for each in rates)
    return Row(
        id="JAIL-2",
        what=what,
        baseline="forks a second, all cores",
        goal=at_least(goal),
        measured=jailed / forked,
        detail=f"{jailed:,.0f}/s beside {forked:,.0f}/s, alternating slices; {STARTS} starts, of which each came to "
        f"between {ratios[0]:.2f} and {ratios[-1]:.2f}",
        served=served,
    )


def _rates_of_one_start(calls: str) -> tuple[dict[str, float], str]:
    with Worker("bench.sides.jailed") as jailed, Worker("bench.sides.forked") as forked:
        ours = jailed.side(calls, name="jailed")
        rates = alternate([ours, forked.side("every core", name="forked")], slices=8, seconds=0.5)
        return rates, ours.evidence()


def _memory(jailed: Worker) -> Iterator[Row]:
    warm = jailed.side("warm", name="warm")
    warm.times(4)
    spare, zygote = jailed.side("facts", name="facts").times(2)
    for what, held, most in (("private memory of a call", spare, 2), ("private memory of a zygote", zygote, 6)):
        yield Row(
            id="JAIL-4",
            what=what,
            baseline=f"{most} MiB",
            goal=at_most(1),
            measured=held / (most * MEBIBYTE),
            detail=f"{held / MEBIBYTE:.2f} MiB by smaps_rollup",
            served=warm.evidence(),
        )


def _work() -> Iterator[Row]:
    """How long the same work takes outside, divided by inside, so that 1 means no cost at all."""
    starts = [_work_of_one_start() for _ in range(STARTS)]
    for name, goal in WORK.items():
        seen, (*_, served) = zip(*(start[name] for start in starts), strict=True)
        times = sorted(each.times for each in seen)
        yield Row(
            id="JAIL-5",
            what=f"work inside: {name}",
            baseline="the same work in a fresh child outside, round by round",
            goal=at_least(goal),
            measured=fmean(times),
            detail=f"{seen[0].ours} beside {seen[0].theirs}; {STARTS} starts, of which each came to "
            f"between {times[0]:.2f} and {times[-1]:.2f}",
            served=served,
        )


def _work_of_one_start() -> dict[str, tuple[Beside, str]]:
    with Worker("bench.sides.jailed") as jailed, Worker("bench.sides.forked") as forked:
        return {name: _done_once(name, jailed=jailed, forked=forked) for name in WORK}


def _done_once(name: str, *, jailed: Worker, forked: Worker) -> tuple[Beside, str]:
    ours = jailed.side(name, name=f"{name} inside")
    return side_by_side(ours, forked.side(name, name=f"{name} outside")), ours.evidence()


def _cold(jailed: Worker) -> Row:
    python = Fresh(name="python -I -c pass", arguments=("-I", "-c", "pass"), timed="outside", pause=SETTLED)
    cold = jailed.side("cold", name="cold")
    taken = round_robin([cold, python], calls=1)
    what = "a jail that nobody built yet, to its first answer"
    return _ratio("JAIL-6", what, taken["cold"], taken[python.name], goal=at_most(2), baseline=python.name, served=cold)
