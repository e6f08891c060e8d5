"""CALL-2: how long it takes to decide under 100 rules, beside Microsoft's Agent Governance Toolkit.

Takes: both sides, each in a process of its own.  Gives: rows.  Never: compares a refusal with an approval's work.

Two rule books: one rule for each of 100 tools, and 100 rules that all look at an argument of this call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from bench.harness.rounds import alternate, round_robin
from bench.harness.rows import Goal, Row, at_most
from bench.harness.samples import Samples
from bench.harness.sides import Side
from bench.harness.worker import Worker, find_peer

PEER = "agent_os.policies"
BASELINE = "toolkit, PolicyEvaluator.evaluate"

BOOKS = {"by_tool": "100 rules, one a tool", "by_argument": "100 rules on an argument"}
PACED = ("decide by_tool", "evaluate by_tool")
PATHS = {
    "authorize": "authorize() alone",
    "unremembered": "authorize() for the first time",
    "decide": "whole path, Pipeline.explain()",
}


def measure() -> Iterator[Row]:
    python = find_peer(PEER)
    with ExitStack() as stack:
        ours = stack.enter_context(Worker("bench.sides.decision_ringfence"))
        sides: list[Side] = [ours.side(name, name=name) for name in _keys(*PATHS)]
        if python is not None:
            theirs = stack.enter_context(Worker("bench.sides.decision_toolkit", python=python))
            sides += [theirs.side(name, name=name) for name in (*_keys("evaluate"), "evaluate by_tool, first")]
        taken = round_robin(sides)
        yield from (_row(taken, path=path, book=book) for book in BOOKS for path in PATHS)
        if python is not None:
            yield _row(taken, path="decide", book="by_tool", against="evaluate by_tool, first")
            yield _throughput(alternate([side for side in sides if side.name in PACED]))


def _keys(*paths: str) -> list[str]:
    return [f"{path} {book}" for path in paths for book in BOOKS]


def _row(taken: dict[str, Samples], *, path: str, book: str, against: str | None = None) -> Row:
    ours, theirs = taken[f"{path} {book}"], taken.get(against or f"evaluate {book}")
    # No goal where the peer looks at one rule, nor for what happens once for each tool of an agent.
    goal: Goal | None = None if against or path == "unremembered" else at_most(1)
    return Row(
        id="CALL-2",
        what=f"{PATHS[path]}, {BOOKS[book]}",
        baseline=BASELINE if against is None else f"{BASELINE}, its first rule holds",
        goal=goal,
        measured=ours.p50 / theirs.p50 if theirs else None,
        detail=f"ours {ours}; theirs {theirs}" if theirs else f"ours {ours}; {_no_peer()}",
    )


def _throughput(rates: dict[str, float]) -> Row:
    ours, theirs = rates["decide by_tool"], rates["evaluate by_tool"]
    return Row(
        id="CALL-2",
        what=f"decisions a second, {BOOKS['by_tool']}",
        baseline=BASELINE,
        goal=None,
        measured=ours / theirs,
        detail=f"ours {ours:,.0f}/s; theirs {theirs:,.0f}/s, alternating slices",
    )


def _no_peer() -> str:
    return f"no environment here has `{PEER}`: run `scripts/bench_peers`"
