"""`ringfence audit raw`: what a tool really said, for an operator who has to know.

Takes: a call, and an operator.  Gives: its raw output, spelled out where it cannot be printed.
Never: shows it to anybody else, or without that being on record.
"""

from __future__ import annotations

from typing import Any

import click

from ringfence.cli.ending import COMPLETED
from ringfence.cli.opening import chosen_config, records_only, with_runtime
from ringfence.cli.options import config_option, json_option, login_name, person_option
from ringfence.cli.printing import emit_json, heading, say_block
from ringfence.runtime import Runtime


@click.command("raw")
@click.argument("call", metavar="CALL")
@person_option
@json_option
@config_option
def raw(call: str, person: str | None, as_json: bool) -> int:
    """Show what the tool of CALL really said, as an operator. That you looked is on record."""

    async def work(runtime: Runtime) -> dict[str, Any]:
        return await runtime.audit.raw(call, by=person or login_name())

    said = with_runtime(work, config=records_only(chosen_config()))
    if as_json:
        emit_json(said)
        return COMPLETED
    for part, text in said.items():
        if text:
            heading(part.replace("_", " "))
            say_block(text if isinstance(text, str) else f"{text['code']}: {text['message']}")
    return COMPLETED
