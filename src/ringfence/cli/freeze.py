"""`ringfence freeze`: the stop button.

Takes: an operator's word and what to stop.  Gives: what was stopped.  Never: asks twice; a stop must be quick.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from ringfence.cli.ending import COMPLETED
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option, login_name, person_option
from ringfence.cli.printing import counted, emit_json, say, table
from ringfence.runtime import Runtime
from ringfence.runtime.freezes import NO_REASON, Frozen
from ringfence.runtime.freezing import Freeze


@click.command("freeze")
@click.option("--agent", metavar="AGENT", help="Stop this agent alone.")
@click.option("--tool", metavar="TOOL", help="Stop this tool alone.")
@click.option("--because", default=NO_REASON, help="Why, for the record and for whoever is refused.")
@click.option("--list", "listing", flag_value="list", default=None, help="Show what is frozen, and change nothing.")
@person_option
@json_option
@config_option
def command(
    agent: str | None, tool: str | None, because: str, listing: str | None, person: str | None, as_json: bool
) -> int:
    """Stop everything, or one agent, or one tool, as an operator.

    In every process, within a second: nothing starts, what waits for votes is void, what runs is ended.
    """
    if listing:
        return _list(as_json=as_json)

    async def work(runtime: Runtime) -> Frozen:
        return await runtime.freezes.freeze(agent=agent, tool=tool, because=because, by=person or login_name())

    frozen = with_runtime(work, config=records_only(chosen_config()))
    if as_json:
        emit_json({**frozen.freeze.document(), "void": list(frozen.void)})
    else:
        say("frozen:", frozen.freeze.scope, style="bold red")
        say(f"  {counted(len(frozen.void), 'waiting call')} void; whatever runs is being ended")
        say("  to go on:", _undo(frozen.freeze))
    return COMPLETED


def _list(*, as_json: bool) -> int:
    async def work(runtime: Runtime) -> list[Freeze]:
        return await runtime.freezes.list()

    found = with_runtime(work, config=records_only(chosen_config()))
    if as_json:
        emit_json({"freezes": [each.document() for each in found]})
    elif not found:
        say("nothing is frozen")
    else:
        show_freezes(found)
    return COMPLETED


def show_freezes(found: Sequence[Freeze]) -> None:
    """What is stopped, by whom, since when and why."""
    rows = [(str(each.scope), each.by, each.at.isoformat(timespec="seconds"), each.because) for each in found]
    table(("frozen", "by", "since", "because"), rows)


def _undo(freeze: Freeze) -> str:
    named = {"agent": freeze.scope.agent, "tool": freeze.scope.tool}
    return " ".join(["ringfence unfreeze", *(f"--{key} {name}" for key, name in named.items() if name)])
