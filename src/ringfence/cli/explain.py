"""`ringfence explain`: every reason for a decision, and nothing run, asked or recorded.

Takes: an agent, a tool and arguments.  Gives: the decision with all of its reasons.  Never: makes the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import click

from ringfence.agents.view import Hidden
from ringfence.cli.arguments import read_arguments
from ringfence.cli.ending import COMPLETED
from ringfence.cli.opening import chosen_config, with_runtime
from ringfence.cli.options import binding_option, config_option, json_option
from ringfence.cli.printing import decided, emit_json, facts, say, table
from ringfence.runtime import Runtime
from ringfence.runtime.explaining import Explanation


@click.command("explain")
@click.argument("agent")
@click.argument("tool")
@click.argument("arguments", metavar="JSON", default="{}")
@binding_option
@click.option("--user", metavar="PERSON", help="The user on whose behalf the agent would act.")
@json_option
@config_option
def command(agent: str, tool: str, arguments: str, binding: str | None, user: str | None, as_json: bool) -> int:
    """Show what would become of a call of TOOL as AGENT, with arguments in JSON, without making it."""
    parsed = read_arguments(arguments)

    async def work(runtime: Runtime) -> tuple[Explanation, Hidden | None]:
        hidden = (await runtime.status(agent, binding=binding)).hidden
        why = next((each for each in hidden if each.tool == tool), None)
        return await runtime.explain(agent, tool, parsed, binding=binding, user=user), why

    explanation, hidden = with_runtime(work, config=chosen_config())
    if as_json:
        emit_json({**explanation.as_dict(), "hidden": vars(hidden) if hidden else None})
    else:
        show_explanation(explanation, subject=f"{agent} calling {tool}", hidden=hidden)
    return COMPLETED


def show_explanation(explanation: Explanation, *, subject: str, hidden: Hidden | None = None) -> None:
    """The decision first, then what it rests on."""
    decided(explanation.decision.word, "for", subject, f"[{explanation.code}]" if explanation.code else "")
    facts([("because", explanation.message), ("hidden", f"{hidden.reason}: {hidden.message}" if hidden else None)])
    if explanation.reasons:
        watching = [(f"{each.kind} (only watching)", each.decision.word, each.because) for each in explanation.shadow]
        found = [(each.kind, each.decision.word, spoken(each.document())) for each in explanation.reasons]
        table(("finding", "decision", "because"), [*found, *watching])
    if explanation.remedy:
        facts([("remedy", explanation.remedy)])
    if explanation.reasons:
        say("  granted:", "; ".join(map(granted, explanation.grant)) or "nothing; it runs with no reach at all")


def spoken(reason: Mapping[str, Any]) -> str:
    """Why, and by which standing grant it is answered, if one does."""
    by = reason.get("answered_by")
    return f"{reason['because']} (answered by {by})" if by else str(reason["because"])


def granted(capability: dict[str, Any]) -> str:
    """One granted capability in a few words."""
    parts = [f"{name} {_listed(value)}" for name, value in capability.items() if name != "kind" and value]
    return f"{capability['kind']} ({', '.join(parts)})" if parts else str(capability["kind"])


def _listed(value: Any) -> str:
    return " ".join(map(str, cast(list[object], value))) if isinstance(value, list) else str(value)
