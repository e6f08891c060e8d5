"""A row says what was measured, and a goal is met only by a number."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from bench.harness.rows import Goal, Row, at_least, at_most
from bench.harness.table import as_json, as_text

pytestmark = pytest.mark.req("HOUSE-11")


def row(*, goal: Goal | None, measured: float | None) -> Row:
    return Row(id="CALL-2", what="ours", baseline="theirs", goal=goal, measured=measured, detail="p50 1 µs")


@pytest.mark.parametrize(
    ("goal", "measured", "verdict"),
    [
        (at_most(1.2), 1.2, "met"),
        (at_most(1.2), 1.21, "missed"),
        (at_least(0.5), 0.5, "met"),
        (at_least(0.5), 0.49, "missed"),
        (at_most(1), None, "not measured"),
        (None, 3.0, "for information"),
        (None, None, "not measured"),
    ],
)
def test_a_verdict_follows_from_goal_and_measurement(goal: Goal | None, measured: float | None, verdict: str) -> None:
    assert row(goal=goal, measured=measured).verdict == verdict


def test_a_table_has_a_line_of_figures_under_each_row() -> None:
    shown = as_text("CALL-2: title", [row(goal=at_most(1), measured=0.4567), row(goal=at_most(1), measured=None)])
    assert shown.splitlines() == [
        "CALL-2: title",
        "",
        "id      what  beside  goal   measured  verdict",
        "------  ----  ------  -----  --------  ------------",
        "CALL-2  ours  theirs  ≤ 1 ×  0.457 ×   met",
        "        p50 1 µs",
        "CALL-2  ours  theirs  ≤ 1 ×  -         not measured",
        "        p50 1 µs",
    ]


def test_who_served_a_row_stands_below_its_figures() -> None:
    served = replace(row(goal=at_most(1), measured=0.5), served="in sha256:12 by pid 7")
    assert as_text("CALL-2", [served]).splitlines()[-2:] == ["        p50 1 µs", "        in sha256:12 by pid 7"]


def test_programs_read_the_unrounded_ratio() -> None:
    document = json.loads(as_json([row(goal=at_least(30), measured=31.41592)]))
    assert document["rows"] == [
        {
            "id": "CALL-2",
            "what": "ours",
            "baseline": "theirs",
            "goal": "≥ 30 ×",
            "measured": 31.41592,
            "verdict": "met",
            "detail": "p50 1 µs",
            "served": None,
        }
    ]
    assert {"python", "cores", "load"} < document.keys()
