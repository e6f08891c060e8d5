"""JAIL-1 to JAIL-6, CALL-1: a jail per call, beside a bare fork of the same modules.

Takes: jailed calls and forks, each in a process of its own.  Gives: rows.
Never: times a call that did not go through the whole pipeline with the shipped defaults.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from statistics import fmean

from bench.harness.ordinary import find_ordinary
from bench.harness.python import Fresh
from bench.harness.rounds import alternate, round_robin, side_by_side
from bench.harness.rows import Goal, Row, at_least, at_most
from bench.harness.samples import Samples
from bench.harness.sides import Side
from bench.harness.worker import Worker
from bench.peers import noop

FORK = "os.fork(), JSON, waitpid; same modules"
PAUSED = f"{FORK}, after the same pause"
BACK_TO_BACK = 400
STARTS = 4
MEBIBYTE = 1 << 20


def measure() -> Iterator[Row]:
    with ExitStack() as stack:
        jailed = stack.enter_context(Worker("bench.sides.jailed"))
        forked = stack.enter_context(Worker("bench.sides.forked"))
        names = ("warm", "whole", "governed read", "governed write")
        sides: list[Side] = [jailed.side(name, name=name) for name in names]
        forks = [forked.side(name, name=name) for name in ("fork", "fork after a pause")]
        taken = round_robin([*sides, *forks], calls=1)
        fork, paused = taken["fork"], taken["fork after a pause"]
        yield from _pair("JAIL-1", "warm call, pool full", taken["warm"], fork, p50=0.35, p99=1)
        yield _ratio("JAIL-1", "the same, with turn, measuring and end", taken["whole"], fork, goal=None)
        dry = Samples.of(jailed.side("dry", name="dry").times(BACK_TO_BACK))
        after = Samples.of(forked.side("fork", name="fork").times(BACK_TO_BACK))
        yield from _pair("JAIL-1", f"{BACK_TO_BACK} calls back to back", dry, after, p50=1, p99=2)
        yield from _ordinary()
        yield _throughput("dry", what="governed jailed calls a second, all cores", goal=0.5)
        what = "the same with a `Network` need: a network of its own for every call"
        yield _throughput("dry, with a way out", what=what, goal=0.4)
        yield from noop.measure(jailed.side("warm", name="warm"))
        yield from _memory(jailed)
        yield from _work(jailed, forked)
        yield _cold(jailed)
        for what, name, most in (("class read", "governed read", 0.6), ("start on disk first", "governed write", 1.1)):
            # A call that finds the pool full comes after a pause, with cold caches; so does the fork beside it.
            yield _ratio("CALL-1", f"governed call, {what}", taken[name], paused, goal=at_most(most), baseline=PAUSED)
            yield _ratio("CALL-1", "the same, beside forks in a row", taken[name], fork, goal=None)


def _ordinary() -> Iterator[Row]:
    """JAIL-1 once more, for somebody who is not root."""
    found = find_ordinary()
    what = "as an ordinary user: warm call, pool full"
    if isinstance(found, str):
        yield Row(id="JAIL-1", what=what, baseline=FORK, goal=at_most(0.35), measured=None, detail=found)
        return
    with found.worker("bench.sides.jailed") as jailed, found.worker("bench.sides.forked") as forked:
        taken = round_robin([jailed.side("warm", name="warm"), forked.side("fork", name="fork")], calls=1)
        yield from _pair("JAIL-1", what, taken["warm"], taken["fork"], p50=0.35, p99=1)
        dry = Samples.of(jailed.side("dry", name="dry").times(BACK_TO_BACK))
        fork = Samples.of(forked.side("fork", name="fork").times(BACK_TO_BACK))
        what = f"as an ordinary user: {BACK_TO_BACK} calls back to back"
        yield from _pair("JAIL-1", what, dry, fork, p50=1, p99=2)


def _pair(id: str, what: str, ours: Samples, fork: Samples, *, p50: float, p99: float) -> Iterator[Row]:
    yield _ratio(id, f"{what}, p50", ours, fork, goal=at_most(p50))
    yield Row(
        id=id,
        what=f"{what}, p99",
        baseline=FORK,
        goal=at_most(p99),
        measured=ours.p99 / fork.p99,
        detail=f"{ours} beside {fork}",
    )


def _ratio(id: str, what: str, ours: Samples, theirs: Samples, *, goal: Goal | None, baseline: str = FORK) -> Row:
    measured = ours.p50 / theirs.p50
    return Row(id=id, what=what, baseline=baseline, goal=goal, measured=measured, detail=f"{ours} beside {theirs}")


def _throughput(calls: str, *, what: str, goal: float) -> Row:
    """Where memory lies is drawn when a process starts, and moves its rate by a tenth: each starts several times."""
    rates = [_rates_of_one_start(calls) for _ in range(STARTS)]
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
    )


def _rates_of_one_start(calls: str) -> dict[str, float]:
    with Worker("bench.sides.jailed") as jailed, Worker("bench.sides.forked") as forked:
        sides: list[Side] = [jailed.side(calls, name="jailed"), forked.side("every core", name="forked")]
        return alternate(sides, slices=8, seconds=0.5)


def _memory(jailed: Worker) -> Iterator[Row]:
    jailed.side("warm", name="warm").times(4)
    spare, zygote = jailed.side("facts", name="facts").times(2)
    for what, held, most in (("private memory of a call", spare, 2), ("private memory of a zygote", zygote, 6)):
        yield Row(
            id="JAIL-4",
            what=what,
            baseline=f"{most} MiB",
            goal=at_most(1),
            measured=held / (most * MEBIBYTE),
            detail=f"{held / MEBIBYTE:.2f} MiB by smaps_rollup",
        )


def _work(jailed: Worker, forked: Worker) -> Iterator[Row]:
    """How long the same work takes outside, divided by inside, so that 1 means no cost at all."""
    for name, goal in (("compute", 0.95), ("allocate", 0.95), ("small_files", 0.85)):
        ours, theirs = jailed.side(name, name=f"{name} inside"), forked.side(name, name=f"{name} outside")
        seen = side_by_side(ours, theirs)
        yield Row(
            id="JAIL-5",
            what=f"work inside: {name}",
            baseline="the same work in a fresh child outside, round by round",
            goal=at_least(goal),
            measured=seen.times,
            detail=f"{seen.ours} beside {seen.theirs}",
        )


def _cold(jailed: Worker) -> Row:
    python = Fresh(name="python -I -c pass", arguments=("-I", "-c", "pass"), timed="outside")
    taken = round_robin([jailed.side("cold", name="cold"), python], calls=1)
    return _ratio("JAIL-6", "a jail that nobody built yet, to its first answer", taken["cold"], taken[python.name],
                  goal=at_most(2), baseline=python.name)  # fmt: skip
