"""Sides take turns, so that whatever else the machine does falls on all of them alike.

Takes: sides.  Gives: samples of each, or calls per second of each, from one interleaved run.
Never: keeps the warm-up, runs a side twice in a row, or lets one always go first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from bench.harness.samples import Samples
from bench.harness.sides import Side

FEWEST_ROUNDS = 200
LONGEST_SLICE = 0.5
WARM_UP = 10


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Two sides of one run: what each took, and how many times what ours took theirs did, in a round of the middle."""

    ours: Samples
    theirs: Samples
    times: float


def round_robin(sides: Sequence[Side], *, rounds: int = FEWEST_ROUNDS, calls: int = 20) -> dict[str, Samples]:
    """What each side took per call, over at least 200 rounds in which every side has one turn."""
    return {name: Samples.of(times) for name, times in _taken(sides, rounds=rounds, calls=calls).items()}


def side_by_side(ours: Side, theirs: Side, *, rounds: int = FEWEST_ROUNDS) -> Beside:
    """One call of each a round, compared within the round.

    Where the machine is fast for seconds and then slow for seconds, the middle of all rounds of one side can lie among
    the fast ones and that of the other among the slow ones; within a round both are as fast as each other.
    """
    taken = _taken([ours, theirs], rounds=rounds, calls=1)
    mine, other = taken[ours.name], taken[theirs.name]
    times = median(their / my for my, their in zip(mine, other, strict=True))
    return Beside(ours=Samples.of(mine), theirs=Samples.of(other), times=times)


def _taken(sides: Sequence[Side], *, rounds: int, calls: int) -> dict[str, list[int]]:
    if rounds < FEWEST_ROUNDS:
        raise ValueError(f"fewer than {FEWEST_ROUNDS} rounds say nothing on a shared machine")
    taken: dict[str, list[int]] = _by_name(sides)
    for turn, side in _turns(sides, rounds=WARM_UP + rounds):
        times = side.times(calls)
        if turn >= WARM_UP:
            taken[side.name].extend(times)
    return taken


def alternate(sides: Sequence[Side], *, slices: int = 8, seconds: float = 0.25) -> dict[str, float]:
    """Calls per second of each side, in slices of at most half a second that take turns."""
    if not 0 < seconds <= LONGEST_SLICE:
        raise ValueError(f"a slice lasts at most {LONGEST_SLICE} s")
    totals: dict[str, list[int]] = _by_name(sides)
    for turn, side in _turns(sides, rounds=1 + slices):
        pace = side.pace(seconds)
        if turn:
            calls, nanoseconds = totals[side.name] or (0, 0)
            totals[side.name] = [calls + pace.calls, nanoseconds + pace.taken]
    return {name: calls / nanoseconds * 1e9 for name, (calls, nanoseconds) in totals.items()}


def _by_name(sides: Sequence[Side]) -> dict[str, list[int]]:
    named = {side.name: list[int]() for side in sides}
    if len(named) != len(sides):
        raise ValueError("two sides have the same name")
    return named


def _turns(sides: Sequence[Side], *, rounds: int) -> Iterator[tuple[int, Side]]:
    """Every side once a round, each round begun by the next side."""
    for turn in range(rounds):
        first = turn % len(sides)
        yield from ((turn, side) for side in (*sides[first:], *sides[:first]))
