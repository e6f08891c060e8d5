"""Hostile texts for as long as one likes; the first that breaks a promise is made small and shown.

Takes: a number of seconds.  Gives: how many rounds it took.  Never: keeps anything; a round is known by its number.
"""

from __future__ import annotations

import time

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from ringfence.sanitise import Cleaned, clean_output, scan_description, visible
from tests.unit.sanitise.hostile import TEXTS

_A_ROUND = 200


def assert_clean_for_good(raw: str, *, limit: int) -> None:
    """Cleaned once is cleaned for good, and nothing that looks at text fails."""
    once = clean_output(raw, limit=limit)
    assert clean_output(once.text, limit=limit) == Cleaned(once.text, ())
    scan_description(raw)
    shown = visible(once.text)
    assert shown == once.text or "\\u{" in shown


def fuzz(*, seconds: float) -> int:
    ends, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        _round(rounds)
        rounds += 1
    return rounds


def _round(number: int) -> None:
    @seed(number)
    @settings(max_examples=_A_ROUND, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(TEXTS, st.integers(0, 400))
    def run(raw: str, limit: int) -> None:
        assert_clean_for_good(raw, limit=limit)

    run()
