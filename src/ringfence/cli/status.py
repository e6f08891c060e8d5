"""`ringfence status`: what an agent can use, what is stopped or granted, and for every other tool why it cannot.

Takes: an agent, or none for all.  Gives: its effective tools, freezes and grants.  Never: is meant for a model.
"""

from __future__ import annotations

from typing import Any

import click

from ringfence.cli.ending import COMPLETED
from ringfence.cli.freeze import show_freezes
from ringfence.cli.grants import show_grants
from ringfence.cli.opening import chosen_config, with_runtime
from ringfence.cli.options import binding_option, config_option, json_option
from ringfence.cli.printing import counted, emit_json, heading, say, table
from ringfence.runtime import Runtime
from ringfence.runtime.status import AgentStatus, tool_document


@click.command("status")
@click.argument("agent", required=False)
@binding_option
@json_option
@config_option
def command(agent: str | None, binding: str | None, as_json: bool) -> int:
    """Show the effective tools of AGENT (or of every agent, or of all on one binding), and why others are hidden."""

    async def work(runtime: Runtime) -> list[AgentStatus]:
        if agent:
            return [await runtime.status(agent, binding=binding)]
        every = [await runtime.status(name) for name in runtime.agents]
        if binding is None:
            return every
        return [await runtime.status(each.agent, binding=binding) for each in every if binding in each.bindings]

    found = with_runtime(work, config=chosen_config())
    if as_json:
        emit_json(found[0].as_dict() if agent else {"agents": [each.as_dict() for each in found]})
    else:
        for each in found:
            show_status(each)
    return COMPLETED


def show_status(status: AgentStatus) -> None:
    """One agent's tools, visible and hidden; what is stopped, and what was approved in advance."""
    on = f" on {status.binding}" if status.binding else ""
    owner = f"owner {status.owner}" if status.owner else "no owner"
    heading(f"agent {status.agent}{on} ({owner}): {counted(len(status.tools), 'tool')}, {len(status.hidden)} hidden")
    if status.account:
        say("  acts with the account", status.account)
    elif status.bindings:
        say("  opens no session without a binding; it has", ", ".join(status.bindings))
    if status.tools:
        rows = [tool_document(tool) for tool in status.tools]
        columns = ("tool", "class", "egress", "least decision", "trust")
        table(columns, [[row[key] for key in ("name", "safety", "egress", "floor", "trust")] for row in rows])
    if status.hidden:
        table(("hidden tool", "reason", "why"), [(each.tool, each.reason, each.message) for each in status.hidden])
    if not status.tools and not status.hidden:
        say("  no tools are registered")
    if status.freezes:
        show_freezes(status.freezes)
    if status.grants:
        show_grants(status.grants)
    if status.caps:
        headings = ("cap on", "binding", "most", "per", "taken", "left")
        table(headings, [_cap_row(each.document()) for each in status.caps])


def _cap_row(cap: dict[str, Any]) -> tuple[str, ...]:
    return tuple(cap[key] or "" for key in ("tools", "binding", "most", "per", "taken", "left"))
