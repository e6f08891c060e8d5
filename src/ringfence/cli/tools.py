"""`ringfence tools`: every registered tool, and one contract in full.

Takes: nothing, or a tool's name.  Gives: a list, or the contract that the fingerprint names.
Never: is narrowed to an agent; `ringfence status` is.
"""

from __future__ import annotations

import json

import click

from ringfence.cli.ending import COMPLETED
from ringfence.cli.explain import granted
from ringfence.cli.opening import chosen_config, with_runtime
from ringfence.cli.options import config_option, json_option
from ringfence.cli.printing import emit_json, facts, heading, say, say_block, table
from ringfence.errors import Misuse
from ringfence.registry.registry import RegisteredTool
from ringfence.runtime import Runtime
from ringfence.runtime.status import tool_document

_SHORT = len("sha256:") + 12


@click.group("tools", invoke_without_command=True)
@json_option
@config_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int | None:
    """List every registered tool with its class, egress, trust and fingerprint."""
    if ctx.invoked_subcommand is not None:
        return None
    rows = [tool_document(tool) for tool in _registered()]
    if as_json:
        emit_json({"tools": rows})
    elif not rows:
        say("no tools are registered; name their modules under `tools.modules` in the config file")
    else:
        keys = ("name", "safety", "egress", "floor", "trust", "source")
        columns = ("tool", "class", "egress", "least decision", "trust", "source", "fingerprint")
        table(columns, [[*(row[key] for key in keys), row["fingerprint"][:_SHORT]] for row in rows])
    return COMPLETED


@command.command("show")
@click.argument("name")
@json_option
@config_option
def show(name: str, as_json: bool) -> int:
    """Show the whole contract of the tool NAME."""
    found = next((tool for tool in _registered() if tool.name == name), None)
    if found is None:
        raise Misuse(f"there is no tool `{name}`", remedy="`ringfence tools` lists them")
    if as_json:
        emit_json({**tool_document(found), "contract": found.tool.document()})
    else:
        _draw(found)
    return COMPLETED


def _registered() -> tuple[RegisteredTool, ...]:
    async def work(runtime: Runtime) -> tuple[RegisteredTool, ...]:
        return runtime.tools

    return with_runtime(work, config=chosen_config())


def _draw(found: RegisteredTool) -> None:
    row, contract = tool_document(found), found.tool.document()
    heading("tool", found.name)
    say_block(found.description)
    facts(
        [
            ("class", row["safety"]),
            ("egress", row["egress"]),
            ("least decision", row["floor"]),
            ("route", contract["approval"]),
            ("idempotency", contract["idempotency"]),
            ("needs", "; ".join(map(granted, row["needs"])) or "nothing"),
            ("limits", _limits(contract["limits"])),
            ("trust", row["trust"]),
            ("quarantine", row["quarantine"]),
            ("source", row["source"]),
            ("fingerprint", row["fingerprint"]),
            ("source digest", row["source_digest"]),
        ]
    )
    for title, schema in (("takes", found.input_schema), ("gives", found.output_schema)):
        heading(title)
        say_block(json.dumps(schema, indent=2, ensure_ascii=False))


def _limits(limits: dict[str, object] | None) -> str:
    return ", ".join(f"{name} {value}" for name, value in (limits or {}).items() if value is not None)
