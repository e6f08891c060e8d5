"""The root command: it knows every command by name and imports one when it is asked for.

Takes: parsed words.  Gives: the command they name.  Never: imports a command that is not run.
"""

from __future__ import annotations

import difflib
import importlib

import click
from click.shell_completion import CompletionItem

from ringfence import __version__
from ringfence.cli.options import config_option
from ringfence.cli.table import COMMANDS, help_text


class LazyGroup(click.Group):
    """A group whose commands live in modules that are imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = importlib.import_module(f"ringfence.cli.{entry.module}").command
        return command

    def get_help(self, ctx: click.Context) -> str:
        return help_text()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            close = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            ctx.fail(f"there is no command `{name}`{hint}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        named = [CompletionItem(n, help=e.help) for n, e in COMMANDS.items() if n.startswith(incomplete)]
        return named + click.Command.shell_complete(self, ctx, incomplete)


def _print_version(ctx: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(f"ringfence {__version__}")
        ctx.exit(0)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@config_option
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version)
def ringfence() -> None:
    """Ringfence stands between AI agents and their tools."""
