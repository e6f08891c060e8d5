"""`ringfence audit replay`: a session as it happened, from the trail alone.

Takes: a session's id.  Gives: its calls in order.  Never: runs anything; no tool is even read.
"""

from __future__ import annotations

import json

import click

from ringfence.audit.replay import ReplayedCall
from ringfence.cli.ending import COMPLETED
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option
from ringfence.cli.printing import counted, decided, emit_json, facts, heading, say
from ringfence.errors import Misuse
from ringfence.runtime import Runtime


@click.command("replay")
@click.argument("session", metavar="SESSION")
@json_option
@config_option
def replay(session: str, as_json: bool) -> int:
    """Tell the calls of SESSION again, in order, from the trail. Nothing runs."""

    async def work(runtime: Runtime) -> list[ReplayedCall]:
        return await runtime.audit.replay(session)

    calls = with_runtime(work, config=records_only(chosen_config()))
    if not calls:
        raise Misuse(
            f"the trail tells of no call in session `{session}`",
            remedy="`ringfence audit export` has the session of every call whose body is kept",
        )
    if as_json:
        emit_json({"session": session, "calls": [each.document() for each in calls]})
    else:
        say(f"session {session}: {counted(len(calls), 'call')}; nothing is run")
        for each in calls:
            _draw(each)
    return COMPLETED


def _draw(call: ReplayedCall) -> None:
    heading(f"{call.at[:19]}  {call.tool}")
    decided(call.ended, call.code or "")
    facts(
        [
            ("call", call.invocation_id),
            ("arguments", call.arguments),
            ("description", "another than at the call before" if call.swapped else None),
            ("decision", call.decision),
            ("votes", "; ".join(f"{vote['voter']}: {vote['vote']}" for vote in call.votes)),
            ("output", None if call.output is None else json.dumps(call.output, ensure_ascii=False)),
            ("let go", counted(call.missing, "body") if call.missing else None),
            ("problems", "; ".join(call.problems)),
        ]
    )
