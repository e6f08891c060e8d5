"""What holds for every text: cleaned once is cleaned for good, in linear time, and what is harmless is left alone."""

from __future__ import annotations

import random
import statistics
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.errors import CallFailed
from ringfence.sanitise import JSON, KINDS, Cleaned, clean_for_model, clean_json, clean_output, scan_description
from tests.unit.sanitise.fuzzing import assert_clean_for_good, fuzz
from tests.unit.sanitise.hostile import FRAGMENTS, TEXTS
from tests.unit.sanitise.samples import PLAIN

pytestmark = pytest.mark.req("SAN-4")

LEAVES = st.none() | st.booleans() | st.integers() | TEXTS
VALUES: st.SearchStrategy[JSON] = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=8
)
# As the issue of speed is put: no text of this size or more takes ten times the usual.
LEAST_BYTES, TIMES = 4_096, 10


def test_sixty_languages_are_among_the_samples() -> None:
    assert len(PLAIN) >= 60


@pytest.mark.parametrize("language", PLAIN)
def test_plain_text_of_any_language_has_no_finding_and_is_not_changed(language: str) -> None:
    text = PLAIN[language]
    assert clean_for_model(text) == Cleaned(text, ())
    assert scan_description(text) == []


@settings(deadline=None)
@given(TEXTS, st.integers(0, 200))
def test_cleaned_once_is_cleaned_for_good(raw: str, limit: int) -> None:
    assert_clean_for_good(raw, limit=limit)


@settings(deadline=None)
@given(TEXTS)
def test_every_finding_has_a_known_kind_and_a_place_in_the_raw_text(raw: str) -> None:
    for finding in clean_for_model(raw).findings:
        start, end = finding.span
        assert finding.kind in KINDS
        assert 0 <= start < end <= len(raw)


@pytest.mark.req("SAN-3")
@settings(deadline=None)
@given(VALUES)
def test_a_structure_keeps_its_shape(value: JSON) -> None:
    with suppress(CallFailed):  # two keys became one, or an image is none
        once, _ = clean_json(value)
        assert shape(once) == shape(value)
        assert clean_json(once)[0] == once


def shape(value: JSON) -> JSON:
    """The value without its strings."""
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "" if isinstance(value, str) else value


def per_byte(text: str) -> float:
    """Processor time for a byte, the best of three; what else runs on the machine does not count."""
    best = float("inf")
    for _ in range(3):
        start = time.thread_time_ns()
        clean_output(text, limit=1 << 40)
        best = min(best, time.thread_time_ns() - start)
    return best / len(text.encode(errors="surrogatepass"))


def repeated(unit: str, *, size: int) -> str:
    return unit * (size // len(unit.encode(errors="surrogatepass")) + 1)


def test_no_hostile_text_takes_ten_times_the_usual() -> None:
    draw = random.Random(6)
    units = {"".join(draw.choices(FRAGMENTS, k=draw.choice((1, 1, 2, 3, 4, 8)))) for _ in range(1_000)} - {""}
    costs = {unit: per_byte(repeated(unit, size=LEAST_BYTES)) for unit in units}
    usual = statistics.median(costs.values())
    assert {unit: cost / usual for unit, cost in costs.items() if cost > TIMES * usual} == {}


@pytest.mark.parametrize(
    "unit", ["<", "<!--", "[a]: b:\n", "```\n", "</s>", "Human:", "](a:", "<a ", "\x1b]", "a\u200b", "é< "]
)
def test_ten_times_the_text_takes_ten_times_the_time(unit: str) -> None:
    short, long = (repeated(unit, size=size) for size in (20_000, 200_000))
    assert per_byte(long) < 3 * per_byte(short)


@settings(deadline=None)
@given(TEXTS)
def test_a_limit_is_never_passed_by_more_than_the_marker(raw: str) -> None:
    cut = clean_output(raw, limit=50).text
    assert len(cut.encode()) <= 50 + len("[truncated: 1234567890123456789 bytes]")


def test_a_minute_of_hostile_texts_breaks_nothing() -> None:
    assert fuzz(seconds=60) > 0


@pytest.mark.long
def test_five_minutes_of_hostile_texts_break_nothing() -> None:
    assert fuzz(seconds=300) > 0
