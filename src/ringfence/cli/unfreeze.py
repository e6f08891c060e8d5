"""`ringfence unfreeze`: calls may start again.

Takes: an operator's word and what was frozen.  Gives: how many freezes were lifted.
Never: brings back what a freeze voided or ended; those calls are made anew.
"""

from __future__ import annotations

import click

from ringfence.cli.ending import COMPLETED
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option, login_name, person_option
from ringfence.cli.printing import emit_json, say
from ringfence.runtime import Runtime
from ringfence.runtime.freezing import Scope


@click.command("unfreeze")
@click.option("--agent", metavar="AGENT", help="This agent was frozen.")
@click.option("--tool", metavar="TOOL", help="This tool was frozen.")
@person_option
@json_option
@config_option
def command(agent: str | None, tool: str | None, person: str | None, as_json: bool) -> int:
    """Lift the freeze of everything, or of one agent, or of one tool, as an operator; other freezes stay."""

    async def work(runtime: Runtime) -> list[str]:
        await runtime.freezes.unfreeze(agent=agent, tool=tool, by=person or login_name())
        return [str(each.scope) for each in await runtime.freezes.list()]

    left = with_runtime(work, config=records_only(chosen_config()))
    scope = Scope(agent=agent, tool=tool)
    if as_json:
        emit_json({**scope.document(), "still_frozen": left})
    else:
        say("no longer frozen:", scope)
        if left:
            say("  still frozen:", ", ".join(left))
    return COMPLETED
