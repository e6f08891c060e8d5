"""`ringfence call`: one call, made by hand as an agent.

Takes: an agent, a tool and arguments.  Gives: the outcome; exit 0 completed, 3 waiting, 4 refused, 5 failed, 2 misuse.
Never: hides who typed it; they count as a proposer and cannot vote on the call.
"""

from __future__ import annotations

import click

from ringfence.cli.arguments import read_arguments
from ringfence.cli.opening import chosen_config, with_runtime
from ringfence.cli.options import binding_option, config_option, json_option, login_name
from ringfence.cli.outcomes import show_outcome
from ringfence.runtime import Outcome, Runtime


@click.command("call")
@click.argument("agent")
@click.argument("tool")
@click.argument("arguments", metavar="JSON", default="{}")
@binding_option
@click.option("--key", metavar="KEY", help="The idempotency key. [default: derived from the call]")
@click.option("--user", metavar="PERSON", help="The user on whose behalf the agent acts.")
@click.option("--session", "session_id", metavar="ID", help="Continue this session. [default: a new one]")
@json_option
@config_option
def command(
    agent: str,
    tool: str,
    arguments: str,
    binding: str | None,
    key: str | None,
    user: str | None,
    session_id: str | None,
    as_json: bool,
) -> int:
    """Make one call of TOOL as AGENT, with arguments in JSON (`-` reads them from standard input).

    Exit codes: 0 completed, 3 waiting for votes, 4 refused, 5 failed, 2 misuse.
    """
    parsed = read_arguments(arguments)

    async def work(runtime: Runtime) -> Outcome:
        session = runtime.session(agent=agent, binding=binding, user=user, id=session_id, typed_by=login_name())
        return await session.call(tool, parsed, idempotency_key=key)

    return show_outcome(with_runtime(work, config=chosen_config()), as_json=as_json)
