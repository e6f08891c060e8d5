"""`ringfence check`: the config, the tools, the rules' own examples and what does not fit, all in one report.

Takes: a config; with `--accept`, an operator who vouches for the tools.
Gives: exit 0 clean, 1 errors, 6 warnings only.
Never: accepts a tool for somebody who is not an operator.
"""

from __future__ import annotations

from dataclasses import dataclass

import click

from ringfence.assembly import Config
from ringfence.cli.ending import COMPLETED, PROBLEMS, WARNINGS
from ringfence.cli.opening import chosen_config, with_runtime
from ringfence.cli.options import config_option, json_option, login_name, person_option
from ringfence.cli.printing import counted, decided, emit_json, say, say_block
from ringfence.cli.wary import warnings_about
from ringfence.errors import ConfigInvalid, Misuse, RingfenceError
from ringfence.runtime import Runtime

_OPERATOR = "operator"


@dataclass(frozen=True, kw_only=True)
class Checked:
    """Everything found; an error means that nothing would be loaded."""

    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    tools: int = 0
    agents: int = 0
    accepted_by: str | None = None

    @property
    def exit_code(self) -> int:
        return PROBLEMS if self.errors else WARNINGS if self.warnings else COMPLETED


@click.command("check")
@click.option("--accept", is_flag=True, help="Accept every tool found, as an operator.")
@person_option
@json_option
@config_option
def command(accept: bool, person: str | None, as_json: bool) -> int:
    """Check the config, the tools and the rules. Exit 0 clean, 1 errors, 6 warnings only."""
    found = _checked(operator=(person or login_name()) if accept else None)
    if as_json:
        emit_json({**vars(found), "errors": list(found.errors), "warnings": list(found.warnings)})
    else:
        _draw(found)
    return found.exit_code


def _checked(*, operator: str | None) -> Checked:
    try:
        config = chosen_config()
    except RingfenceError as error:
        return Checked(errors=_lines(error))
    if operator is not None:
        require_operator(config, operator)
    own = tuple(map(str, config.warnings))

    async def work(runtime: Runtime) -> Checked:
        found = [warning async for warning in warnings_about(runtime, config=config)]
        return Checked(
            warnings=(*own, *found), tools=len(runtime.tools), agents=len(config.agents), accepted_by=operator
        )

    try:
        return with_runtime(work, config=config, accept_as=operator)
    except RingfenceError as error:
        return Checked(errors=_lines(error), warnings=own)


def require_operator(config: Config, name: str) -> None:
    """Refuse to accept tools for anybody who is not an operator of this config."""
    person = config.electorate.people.get(name)
    if person is None or _OPERATOR not in person.roles:
        operators = ", ".join(f"`{p.name}`" for p in config.electorate.people.values() if _OPERATOR in p.roles)
        remedy = f"name one of {operators} with `--as`" if operators else "give somebody under `people` this role"
        raise Misuse(f"`{name}` does not have the role `operator`", remedy=remedy)


def _lines(error: RingfenceError) -> tuple[str, ...]:
    if isinstance(error, ConfigInvalid):
        return error.problems
    return (f"[{error.code}] {error.message}; {error.remedy}",)


def _draw(found: Checked) -> None:
    for error in found.errors:
        say_block(f"error: {error}")
    for warning in found.warnings:
        say_block(f"warning: {warning}")
    warnings = counted(len(found.warnings), "warning")
    if found.errors:
        decided("problem:", f"{counted(len(found.errors), 'error')}, {warnings}; nothing would be loaded")
    else:
        decided("ok:", f"{counted(found.tools, 'tool')}, {counted(found.agents, 'agent')}, {warnings}")
    if found.accepted_by and not found.errors:
        say("every tool is accepted by", found.accepted_by)
