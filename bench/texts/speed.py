"""TEXT-1 and TEXT-2: how long cleaning takes, beside one `str.translate`, beside detect-secrets, and beside itself.

Takes: sample texts.  Gives: rows.  Never: compares texts of different length but by what each took for a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

from bench.harness.rounds import alternate
from bench.harness.rows import Goal, Row, at_least, at_most
from bench.harness.sides import Local, Side
from bench.harness.worker import Worker, find_peer
from bench.texts.samples import Scripts, sample
from ringfence.sanitise import clean_for_model, clean_output
from ringfence.sanitise.invisible import HIDDEN

MEBI = 1 << 20
PEER = "detect_secrets"
PEER_SIZE = 1 << 14
BASELINE = "one str.translate, invisible characters"


def speed() -> Iterator[Row]:
    sides: list[Side] = []
    for scripts in ("ascii", "mixed"):
        text = sample(scripts, size=MEBI)
        sides += [
            _local(f"translate {scripts}", partial(text.translate, invisible())),
            _local(f"clean {scripts}", partial(clean_output, text, limit=16 * MEBI)),
            _local(f"model {scripts}", partial(clean_for_model, text, limit=16 * MEBI)),
        ]
    sides.append(_local("clean 10", partial(clean_output, sample("ascii", size=10 * MEBI), limit=64 * MEBI)))
    with ExitStack() as stack:
        python = find_peer(PEER)
        if python is not None:
            sides.append(
                stack.enter_context(Worker("bench.sides.secrets_peer", python=python)).side("scan", name="peer")
            )
        rates = alternate(sides, slices=6, seconds=0.4)
    yield _beside_translate(rates, scripts="mixed", goal=at_least(0.5))
    yield _beside_translate(rates, scripts="ascii", goal=at_least(0.04))
    yield _beside_peer(rates)
    yield from (_with_orders(rates, scripts=scripts) for scripts in ("mixed", "ascii"))
    yield _longer(rates)


def invisible() -> dict[int, None]:
    """The table that removes every invisible character, needed or not."""
    spans = HIDDEN.replace("-", "\0")
    table: dict[int, None] = {}
    at = 0
    while at < len(spans):
        last = at + 2 if spans[at + 1 : at + 2] == "\0" else at
        table |= dict.fromkeys(range(ord(spans[at]), ord(spans[last]) + 1))
        at = last + 1
    return table


def _local(name: str, function: Callable[[], Any]) -> Side:
    return Local(name=name, function=function)


def _beside_translate(rates: dict[str, float], *, scripts: Scripts, goal: Goal) -> Row:
    ours, theirs = rates[f"clean {scripts}"], rates[f"translate {scripts}"]
    return Row(
        id="TEXT-1",
        what=f"clean 1 MiB, every pass, {scripts}",
        baseline=BASELINE,
        goal=goal,
        measured=ours / theirs,
        detail=f"{1e3 / ours:.3g} ms beside {1e3 / theirs:.3g} ms, alternating slices",
    )


def _with_orders(rates: dict[str, float], *, scripts: Scripts) -> Row:
    ours, theirs = rates[f"model {scripts}"], rates[f"translate {scripts}"]
    return Row(
        id="TEXT-1",
        what=f"clean 1 MiB and look for orders, {scripts}",
        baseline=BASELINE,
        goal=None,
        measured=ours / theirs,
        detail=f"{1e3 / ours:.3g} ms beside {1e3 / theirs:.3g} ms, alternating slices",
    )


def _beside_peer(rates: dict[str, float]) -> Row:
    ours = rates["clean ascii"] * MEBI
    theirs = rates["peer"] * PEER_SIZE if "peer" in rates else None
    return Row(
        id="TEXT-1",
        what="clean, every pass, ascii, by the byte",
        baseline="detect-secrets, every plugin",
        goal=at_least(100),
        measured=ours / theirs if theirs else None,
        detail=f"ours {ours / 1e6:.3g} MB/s; theirs {theirs / 1e6:.3g} MB/s"
        if theirs
        else f"no environment here has `{PEER}`: run `scripts/bench_peers`",
    )


def _longer(rates: dict[str, float]) -> Row:
    one, ten = rates["clean ascii"], rates["clean 10"]
    return Row(
        id="TEXT-2",
        what="clean 10 MiB",
        baseline="clean 1 MiB",
        goal=at_most(11),
        measured=one / ten,
        detail=f"{1e3 / ten:.3g} ms beside {1e3 / one:.3g} ms, alternating slices",
    )
