"""What a run in a sandbox came to: stopped, works, or the sandbox or the probe could not run.

Takes: what was printed.  Gives: `Judged`.  Never: counts a sandbox that did not start as one that stopped something.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bench.peers.inside import ABOUT_TO_TRY, CAME_TO

Verdict = Literal["stopped", "works", "cannot run"]
_LONGEST = 1_000
_PARTS = re.compile(r" (?=\S+=)")


@dataclass(frozen=True, kw_only=True)
class Said:
    """Everything that a run gave; no status means that it was ended for taking too long."""

    status: int | None
    out: str
    err: str


@dataclass(frozen=True, kw_only=True)
class Judged:
    verdict: Verdict
    detail: str


def judge(said: Said) -> Judged:
    """A probe that began and never answered was ended by the sandbox, unless nobody ended it."""
    lines = said.out.splitlines()
    answer = next((line.removeprefix(CAME_TO) for line in lines if line.startswith(CAME_TO)), None)
    if answer is not None:
        return judge_attempt(json.loads(answer))
    if said.status is None:
        return Judged(verdict="cannot run", detail="no answer in time")
    if ABOUT_TO_TRY not in lines:
        return Judged(verdict="cannot run", detail=f"did not start: {_last_line(said.err)}")
    return Judged(verdict="stopped", detail=f"ended with status {said.status}")


def judge_attempt(told: Mapping[str, Any]) -> Judged:
    """What a probe says of itself; one that broke in another way than by a refusal tried nothing."""
    verdicts: Mapping[str, Verdict] = {"succeeded": "works", "stopped": "stopped"}
    return Judged(verdict=verdicts.get(told["outcome"], "cannot run"), detail=str(told["detail"])[:_LONGEST])


def judge_fairly(judged: Judged, *, own_making: Collection[str]) -> Judged:
    """The same without parts and answers that may be of the sandbox's own making."""
    parts = dict(part.split("=", 1) for part in _PARTS.split(judged.detail) if "=" in part)
    counted = [answer for name, answer in parts.items() if not {name, answer} & set(own_making)]
    if judged.verdict != "works" or not own_making or any(answer.startswith("done") for answer in counted):
        return judged
    return Judged(verdict="stopped", detail=judged.detail)


def judge_ours(told: Mapping[str, Any], *, expected: str) -> Judged:
    """A row of the attack campaign: a completed call tells like any probe, a failed one only by the awaited code."""
    if told["status"] == "completed":
        return judge_attempt(told)
    if told["status"] == "failed" and told["code"] == expected:
        return Judged(verdict="stopped", detail=str(told["code"]))
    return Judged(verdict="cannot run", detail=f"{told['status']} {told['code']}: {told['detail']}"[:_LONGEST])


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")[:_LONGEST]
