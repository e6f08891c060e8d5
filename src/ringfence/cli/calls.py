"""`ringfence calls`: a call on record, and picking up one that waited.

Takes: the id of a call.  Gives: how it stands, or its outcome.
Never: resumes a call as anybody but the session, agent and binding that it was recorded for.
"""

from __future__ import annotations

from typing import Any

import click

from ringfence.approvals.inbox import Vote
from ringfence.cli.ending import COMPLETED
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option
from ringfence.cli.outcomes import show_outcome
from ringfence.cli.printing import emit_json, facts, heading
from ringfence.errors import Misuse
from ringfence.runtime import Outcome, Runtime
from ringfence.runtime.invocation import Recorded


@click.group("calls")
def command() -> None:
    """Show a recorded call, or resume one that waited."""


@command.command("show")
@click.argument("invocation")
@json_option
@config_option
def show(invocation: str, as_json: bool) -> int:
    """Show how the call INVOCATION stands."""

    async def work(runtime: Runtime) -> Recorded:
        return await _recorded(runtime, invocation)

    found = with_runtime(work, config=records_only(chosen_config()))
    if as_json:
        emit_json(_document(found))
    else:
        _draw(found)
    return COMPLETED


@command.command("resume")
@click.argument("invocation")
@json_option
@config_option
def resume(invocation: str, as_json: bool) -> int:
    """Pick up the call INVOCATION once its votes are given; everything is decided anew.

    Exit codes: 0 completed, 3 still waiting, 4 refused, 5 failed, 2 misuse.
    """

    async def work(runtime: Runtime) -> Outcome:
        kept = (await _recorded(runtime, invocation)).invocation
        session = runtime.session(agent=kept.agent, binding=kept.binding, user=kept.user, id=kept.session)
        return await session.resume(kept.id)

    return show_outcome(with_runtime(work, config=chosen_config()), as_json=as_json)


async def _recorded(runtime: Runtime, invocation_id: str) -> Recorded:
    found = await runtime.recorded(invocation_id)
    if found is None:
        raise Misuse(
            f"there is no call `{invocation_id}` on record", remedy="`ringfence audit tail` shows recent calls"
        )
    return found


def _document(found: Recorded) -> dict[str, Any]:
    kept = found.invocation
    return {
        **{**vars(kept), "proposers": list(kept.proposers), "proposed_at": kept.proposed_at.isoformat()},
        "status": found.status.value,
        "code": found.code,
        "approval": found.approval.document() if found.approval else None,
        "outcome": found.outcome,
    }


def _draw(found: Recorded) -> None:
    kept, approval = found.invocation, found.approval
    heading("call", kept.id)
    facts(
        [
            ("status", f"{found.status.value} [{found.code}]" if found.code else found.status.value),
            ("agent", kept.agent),
            ("binding", kept.binding),
            ("user", kept.user),
            ("session", kept.session),
            ("tool", kept.tool),
            ("arguments", kept.arguments),
            (
                "proposed",
                f"{kept.proposed_at.isoformat(timespec='seconds')} by {', '.join(kept.proposers) or 'the model'}",
            ),
            ("fingerprint", kept.fingerprint),
            ("approval", f"{approval.id} {approval.status.value}" if approval else None),
            *(("vote", _vote(vote)) for vote in (approval.votes if approval else ())),
            ("outcome", _said(found.outcome or {})),
        ]
    )


def _vote(vote: Vote) -> str:
    reason = f", because: {vote.reason}" if vote.reason else ""
    return f"{vote.voter} says {vote.decision} ({vote.door}){reason}"


def _said(outcome: dict[str, Any]) -> object:
    return outcome.get("text") or outcome.get("message")
