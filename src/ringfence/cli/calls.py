"""`ringfence calls`: calls on record; picking up, settling and taking back one.

Takes: the id of a call.  Gives: how it stands, or its outcome.
Never: resumes a call as anybody but the session, agent and binding that it was recorded for.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import click

from ringfence.approvals.inbox import Vote
from ringfence.cli.ending import COMPLETED, FAILED
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option, login_name, person_option
from ringfence.cli.outcomes import show_outcome
from ringfence.cli.printing import emit_json, facts, heading, say, table
from ringfence.errors import Misuse
from ringfence.runtime import Outcome, Runtime
from ringfence.runtime.invocation import Recorded, Status


@click.group("calls")
def command() -> None:
    """List and show recorded calls; resume, settle or take back one."""


@command.command("list")
@click.option("--status", metavar="STATUS", help="Calls that stand so, like `in_doubt`.")
@click.option("--agent", metavar="AGENT", help="Calls of this agent.")
@click.option("--last", "limit", default=20, show_default=True, type=click.IntRange(min=1), help="How many.")
@json_option
@config_option
def listed(status: str | None, agent: str | None, limit: int, as_json: bool) -> int:
    """List recorded calls, newest first."""

    async def work(runtime: Runtime) -> list[Recorded]:
        return await runtime.calls.list(status=status, agent=agent, limit=limit)

    found = with_runtime(work, config=records_only(chosen_config()))
    if as_json:
        emit_json({"calls": [_document(each) for each in found]})
    elif not found:
        say("no such call is on record")
    else:
        table(("call", "status", "agent", "tool", "proposed"), [_row(each) for each in found])
    return COMPLETED


@command.command("settle")
@click.argument("invocation")
@click.option("--to", type=click.Choice(("completed", "failed")), help="What you found at the far side.")
@click.option("--because", help="How you know, for the record.")
@click.option("--output", metavar="JSON", help="What the tool would have answered, where it took effect.")
@click.option("--reconcile", is_flag=True, help="Ask the tool's own `reconcile` instead.")
@person_option
@json_option
@config_option
def settle(
    invocation: str,
    to: Literal["completed", "failed"] | None,
    because: str | None,
    output: str | None,
    reconcile: bool,
    person: str | None,
    as_json: bool,
) -> int:
    """Settle the call INVOCATION that is in doubt, as an operator.

    `completed`: it took effect, and whoever asks again under its key is told so.
    `failed`: it did not, and its key is free.
    `--reconcile`: the tool is asked, in a jail that can change nothing; what it cannot tell stays in doubt.

    Exit codes: 0 settled, 5 still in doubt, 2 misuse.
    """
    by = person or login_name()
    if reconcile:
        if to or because or output:
            raise Misuse("`--reconcile` asks the tool, so there is nothing to say with it")
        found = with_runtime(lambda runtime: runtime.calls.reconcile(invocation, by=by), config=chosen_config())
        _shown(found, as_json=as_json)
        return FAILED if found.status is Status.IN_DOUBT else COMPLETED
    if to is None or because is None:
        raise Misuse("say `--to` and `--because`, or `--reconcile`")
    word, reason, value = to, because, None if output is None else _json(output)

    async def work(runtime: Runtime) -> Recorded:
        return await runtime.calls.settle(invocation, by=by, to=word, because=reason, output=value)

    return _shown(with_runtime(work, config=records_only(chosen_config())), as_json=as_json)


@command.command("cancel")
@click.argument("invocation")
@person_option
@json_option
@config_option
def cancel(invocation: str, person: str | None, as_json: bool) -> int:
    """Take back the call INVOCATION that waits, as an operator; `ringfence freeze` ends what runs."""

    async def work(runtime: Runtime) -> Recorded:
        return await runtime.calls.cancel(invocation, by=person or login_name())

    return _shown(with_runtime(work, config=records_only(chosen_config())), as_json=as_json)


@command.command("show")
@click.argument("invocation")
@json_option
@config_option
def show(invocation: str, as_json: bool) -> int:
    """Show how the call INVOCATION stands."""

    async def work(runtime: Runtime) -> Recorded:
        return await _recorded(runtime, invocation)

    return _shown(with_runtime(work, config=records_only(chosen_config())), as_json=as_json)


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


def _shown(found: Recorded, *, as_json: bool) -> int:
    if as_json:
        emit_json(_document(found))
    else:
        _draw(found)
    return COMPLETED


def _row(found: Recorded) -> tuple[str, ...]:
    kept = found.invocation
    status = f"{found.status.value} [{found.code}]" if found.code else found.status.value
    return (kept.id, status, kept.agent, kept.tool, kept.proposed_at.isoformat(timespec="seconds"))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise Misuse("`--output` is not JSON", remedy="put it in single quotes, as JSON") from None


async def _recorded(runtime: Runtime, invocation_id: str) -> Recorded:
    found = await runtime.recorded(invocation_id)
    if found is None:
        raise Misuse(
            f"there is no call `{invocation_id}` on record", remedy="`ringfence calls list` shows recent calls"
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
