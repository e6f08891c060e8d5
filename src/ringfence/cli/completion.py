"""`ringfence completion`: the script that makes a shell complete commands and options.

Takes: a shell's name.  Gives: its script on stdout.  Never: edits a shell's start-up files.
"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ringfence.cli.ending import COMPLETED
from ringfence.errors import Misuse


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the completion script of SHELL, to be sourced by it."""
    kind = get_completion_class(shell)
    if kind is None:
        raise Misuse(f"there is no completion for `{shell}`", remedy="use bash, zsh or fish")
    root = click.get_current_context().find_root().command
    click.echo(kind(root, {}, "ringfence", "_RINGFENCE_COMPLETE").source())
    return COMPLETED
