"""Options that several commands share, and who is typing.

Takes: what was typed.  Gives: decorators and names.  Never: believes an environment variable about who somebody is.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

_CONFIG = "ringfence.config"
DEFAULT_CONFIG = "ringfence.yaml"


def _remember_config(ctx: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value:
        ctx.meta[_CONFIG] = value
    elif not ctx.parent and os.environ.get("RINGFENCE_CONFIG"):
        ctx.meta[_CONFIG] = os.environ["RINGFENCE_CONFIG"]


def config_file() -> str:
    """The config file of this command line: the option nearest to the command, the environment, the default."""
    chosen: str = click.get_current_context().meta.get(_CONFIG, DEFAULT_CONFIG)
    return chosen


def config_option(function: Function) -> Function:
    """`--config FILE`, which may stand before or after the command."""
    return click.option(
        "--config", metavar="FILE", expose_value=False, callback=_remember_config, help="The config file."
    )(function)


def json_option(function: Function) -> Function:
    """`--json`, for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def binding_option(function: Function) -> Function:
    return click.option("--binding", metavar="CHANNEL:INSTANCE", help="The channel that the agent acts on.")(function)


def person_option(function: Function) -> Function:
    """`--as PERSON`, who defaults to whoever is logged in."""
    return click.option("--as", "person", metavar="PERSON", help="Who you are. [default: your login name]")(function)


def login_name() -> str:
    """Whoever the operating system says is typing; `LOGNAME` and the like are not asked."""
    uid = os.getuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid-{uid}"
