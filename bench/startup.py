"""START-1: how long it takes to get ready, beside what everybody already waits for.

Takes: fresh processes of the real interpreter.  Gives: rows.  Never: runs two of a kind in a row.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from bench.harness.python import Fresh, can_import
from bench.harness.rounds import round_robin
from bench.harness.rows import Goal, Row, at_most
from bench.harness.samples import Samples

_TIMED = "import time\nbegan = time.perf_counter_ns()\n{}\nprint(time.perf_counter_ns() - began)"

_TOOL = """
import ringfence
@ringfence.tool(safety="read")
def look_up(customer: str, limit: int) -> list[str]:
    "Look one customer up."
"""
_MODEL = """
from pydantic import BaseModel, TypeAdapter
class LookUp(BaseModel):
    customer: str
    limit: int
LookUp.model_json_schema(), TypeAdapter(list[str]).json_schema()
"""


def measure() -> Iterator[Row]:
    """Imports are timed inside the new process, commands from outside."""
    sides = [
        _timed("import ringfence", "import ringfence"),
        _timed("import pydantic", "import pydantic"),
        _timed("one declared tool", _TOOL),
        _timed("one pydantic model", _MODEL),
        Fresh(name="python -c pass", arguments=("-I", "-c", "pass"), timed="outside"),
    ]
    command = Path(sys.executable).with_name("ringfence")
    if helps := command.exists() and can_import("ringfence.cli"):
        sides.append(Fresh(name="ringfence --help", arguments=("-I", str(command), "--help"), timed="outside"))
    taken = round_robin(sides, calls=1)
    yield _row(taken, "import ringfence", beside="import pydantic", goal=at_most(1.5))
    yield _row(taken, "ringfence --help", beside="python -c pass", goal=at_most(6)) if helps else _NO_COMMAND
    yield _row(taken, "one declared tool", beside="one pydantic model", goal=None)


_NO_COMMAND = Row(
    id="START-1",
    what="ringfence --help",
    baseline="python -c pass",
    goal=at_most(6),
    measured=None,
    detail="the command line is not installed here: run `make setup`",
)


def _timed(name: str, statements: str) -> Fresh:
    return Fresh(name=name, arguments=("-I", "-c", _TIMED.format(statements)), timed="inside")


def _row(taken: dict[str, Samples], what: str, *, beside: str, goal: Goal | None) -> Row:
    ours, theirs = taken[what], taken[beside]
    return Row(
        id="START-1",
        what=what,
        baseline=beside,
        goal=goal,
        measured=ours.p50 / theirs.p50,
        detail=f"{ours} beside {theirs}",
    )
