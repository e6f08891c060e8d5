"""Percentiles are nearest-rank: always a time that was really measured."""

from __future__ import annotations

import pytest
from bench.harness.samples import Samples, duration

pytestmark = pytest.mark.req("HOUSE-11")


def test_the_median_is_the_smallest_time_that_half_of_all_do_not_exceed() -> None:
    assert [Samples.of(taken).p50 for taken in ([7], [3, 1], [3, 1, 2], [4, 3, 2, 1])] == [7, 1, 2, 2]


def test_the_99th_percentile_leaves_out_one_of_a_hundred() -> None:
    assert Samples.of(range(1, 101)).p99 == 99
    assert Samples.of(range(1, 1001)).p99 == 990


def test_few_samples_have_their_slowest_as_99th_percentile() -> None:
    assert Samples.of([5, 900, 6]).p99 == 900


def test_nothing_measured_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing was measured"):
        Samples.of([])


@pytest.mark.parametrize("percent", [0, -1, 100.1])
def test_a_percentile_outside_the_samples_is_an_error(percent: float) -> None:
    with pytest.raises(ValueError, match="a percentile is"):
        Samples.of([1]).percentile(percent)


@pytest.mark.parametrize(
    ("nanoseconds", "shown"),
    [(0, "0 ns"), (999, "999 ns"), (1_000, "1 µs"), (9_140, "9.14 µs"), (41_234_567, "41.2 ms"), (2.5e9, "2.5 s")],
)
def test_a_duration_is_shown_in_the_unit_that_fits(nanoseconds: float, shown: str) -> None:
    assert duration(nanoseconds) == shown
