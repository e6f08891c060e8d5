"""SEC-3: what looking for known values adds to the cleaning of an output.

Takes: a sample text, and secrets made up for the run.  Gives: rows.  Never: counts a text in which one is found.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from functools import partial

from bench.harness.rounds import alternate
from bench.harness.rows import Goal, Row, at_most
from bench.harness.sides import Local
from bench.texts.samples import sample
from ringfence.execution.sandbox import RawOutput
from ringfence.execution.scrubbing import scrubbed_output
from ringfence.sanitise import clean_for_model, clean_json, clean_output
from ringfence.sanitise.known import Scrubber

MEBI = 1 << 20
_COUNTS = (1, 20)
# The goal is about the first, which is the harder comparison; the second is what a call pays.
_BASELINES = {
    "clean once": "one `clean_output` of the same text",
    "clean": "clean that output as a call does, for programs and for a model",
}


def scrubbing() -> Iterator[Row]:
    text = sample("ascii", size=MEBI)
    raw = RawOutput(reply=json.dumps(text).encode())
    sides = [
        Local(name="clean", function=partial(_cleaned, text)),
        Local(name="clean once", function=partial(clean_output, text, limit=16 * MEBI)),
    ]
    for count in _COUNTS:
        scrubber = Scrubber((f"KEY_{number}", secrets.token_urlsafe(32)) for number in range(count))
        sides.append(Local(name=f"scrub {count}", function=partial(scrubbed_output, raw, scrubber=scrubber)))
    rates = alternate(sides, slices=6, seconds=0.3)
    for count in _COUNTS:
        yield _row(rates, count=count, beside="clean once", goal=at_most(0.1))
        yield _row(rates, count=count, beside="clean", goal=None)


def _cleaned(text: str) -> None:
    """What the pipeline does with an output: its texts for a program, and its wording for a model."""
    clean_json(text)
    clean_for_model(text, limit=16 * MEBI)


def _row(rates: dict[str, float], *, count: int, beside: str, goal: Goal | None) -> Row:
    ours, whole = rates[f"scrub {count}"], rates[beside]
    return Row(
        id="SEC-3",
        what=f"look for {count} known value{'s' if count > 1 else ''} in an output of 1 MiB",
        baseline=_BASELINES[beside],
        goal=goal,
        measured=whole / ours,
        detail=f"{1e3 / ours:.3g} ms beside {1e3 / whole:.3g} ms, alternating slices",
    )
