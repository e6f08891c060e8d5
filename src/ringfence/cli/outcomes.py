"""An outcome as a person reads it, with what to do next, and the exit code that tells a script.

Takes: an `Outcome`.  Gives: lines and a code.  Never: prints a byte of output that was not cleaned.
"""

from __future__ import annotations

import json

from ringfence.cli.ending import COMPLETED, FAILED, REFUSED, WAITING
from ringfence.cli.printing import decided, emit_json, facts, say, say_block
from ringfence.runtime import Completed, Failed, Outcome, Refused, Waiting
from ringfence.runtime.outcome import model_text

_CODES = {"completed": COMPLETED, "waiting": WAITING, "refused": REFUSED, "failed": FAILED}


def show_outcome(outcome: Outcome, *, as_json: bool) -> int:
    """Print the outcome; gives the exit code."""
    if as_json:
        emit_json(outcome.as_dict())
    else:
        _draw(outcome)
    return _CODES[outcome.status]


def _draw(outcome: Outcome) -> None:
    match outcome:
        case Completed():
            decided("completed", outcome.invocation_id)
            say_block(_readable(outcome))
            kinds = sorted({finding.kind for finding in outcome.findings})
            facts([("cleaned", ", ".join(kinds)), ("took", _took(outcome))])
        case Waiting():
            _draw_waiting(outcome)
        case Refused():
            decided("refused", f"[{outcome.code}]", outcome.message)
            facts([("remedy", outcome.remedy), ("call", outcome.invocation_id)])
        case Failed():
            decided("failed", f"[{outcome.code}]", outcome.message)
            facts([("remedy", outcome.remedy), ("call", outcome.invocation_id)])


def _draw_waiting(outcome: Waiting) -> None:
    votes = "1 vote" if outcome.votes_needed == 1 else f"{outcome.votes_needed} votes of different people"
    decided("waiting", f"for {votes}")
    say("  see it:     ringfence approvals show", outcome.approval_id)
    say("  approve it: ringfence approvals approve", outcome.approval_id, "--as PERSON")
    say("  then:       ringfence calls resume", outcome.invocation_id)


def _readable(outcome: Completed) -> str:
    """What the model would read where the tool says so, else the output laid out for people."""
    if outcome.text != model_text(outcome.output) or isinstance(outcome.output, str):
        return outcome.text
    return json.dumps(outcome.output, indent=2, ensure_ascii=False)


def _took(outcome: Completed) -> str | None:
    seconds = outcome.effects.get("wall_seconds")
    return f"{seconds * 1000:.0f} ms" if seconds else None
