"""Sides take turns, the warm-up is dropped, and too short a run is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from bench.harness.rounds import FEWEST_ROUNDS, WARM_UP, alternate, round_robin, side_by_side
from bench.harness.sides import LEAD_IN, Local, Pace

pytestmark = pytest.mark.req("HOUSE-11")


@dataclass
class Scripted:
    """A side that takes what it was told to, and writes down when it was asked."""

    name: str
    log: list[str]
    later: int = 5
    asked: list[float] = field(default_factory=list[float])

    def times(self, calls: int) -> Sequence[int]:
        self.log.append(self.name)
        self.asked.append(calls)
        return [1_000_000 if len(self.asked) <= WARM_UP else self.later] * calls

    def pace(self, seconds: float) -> Pace:
        self.log.append(self.name)
        self.asked.append(seconds)
        return Pace(1 if len(self.asked) == 1 else self.later, 500_000_000)


def pair() -> tuple[Scripted, Scripted, list[str]]:
    log: list[str] = []
    return Scripted("a", log, later=5), Scripted("b", log, later=20), log


def test_every_side_has_one_turn_a_round_and_each_round_begins_with_the_next_side() -> None:
    one, other, log = pair()
    round_robin([one, other])
    assert log == ["a", "b", "b", "a"] * ((WARM_UP + FEWEST_ROUNDS) // 2)


def test_the_warm_up_is_not_among_the_samples() -> None:
    one, other, _ = pair()
    taken = round_robin([one, other], calls=3)
    assert {name: (set(samples.ordered), len(samples.ordered)) for name, samples in taken.items()} == {
        "a": ({5}, 3 * FEWEST_ROUNDS),
        "b": ({20}, 3 * FEWEST_ROUNDS),
    }


def test_fewer_than_200_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="fewer than 200 rounds"):
        round_robin([Scripted("a", [])], rounds=199)
    with pytest.raises(ValueError, match="fewer than 200 rounds"):
        side_by_side(Scripted("a", []), Scripted("b", []), rounds=199)


@dataclass
class InPhases:
    """A side of a machine that is slow in some rounds; this one takes its time and a tenth more of it, or does not."""

    name: str
    slow: range
    share: int
    asked: int = 0

    def times(self, calls: int) -> Sequence[int]:
        self.asked += 1
        return [(17 if self.asked in self.slow else 11) * self.share] * calls

    def pace(self, seconds: float) -> Pace:
        raise NotImplementedError


def test_rounds_are_compared_one_by_one() -> None:
    """Each side alone has its middle among its fast rounds or its slow ones, by two rounds that fell otherwise."""
    half = WARM_UP + FEWEST_ROUNDS // 2
    ours = InPhases("ours", slow=range(half - 1, 1000), share=100)
    theirs = InPhases("theirs", slow=range(half + 2, 1000), share=110)
    seen = side_by_side(ours, theirs)
    assert seen.times == pytest.approx(1.1)
    assert seen.theirs.p50 / seen.ours.p50 < 0.8


def test_two_sides_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="the same name"):
        round_robin([Scripted("a", []), Scripted("a", [])])


def test_a_rate_counts_all_slices_but_the_first() -> None:
    one, other, log = pair()
    assert alternate([one, other], slices=4, seconds=0.5) == {"a": 10.0, "b": 40.0}
    assert log == ["a", "b", "b", "a", "a", "b", "b", "a", "a", "b"]


@pytest.mark.parametrize("seconds", [0, 0.51, -1])
def test_a_slice_longer_than_half_a_second_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match=r"at most 0\.5 s"):
        alternate([Scripted("a", [])], seconds=seconds)


def test_a_function_is_run_in_before_it_is_timed() -> None:
    runs: list[None] = []
    times = Local(name="a", function=lambda: runs.append(None)).times(7)
    assert (len(times), len(runs)) == (7, 7 + LEAD_IN)


def test_a_pace_counts_only_what_was_timed() -> None:
    runs: list[None] = []
    pace = Local(name="a", function=lambda: runs.append(None)).pace(0.001)
    assert pace.calls == len(runs) - LEAD_IN
