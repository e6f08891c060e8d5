"""`ringfence secrets`: which secrets there are, whether each can be read, and a new value for one.

Takes: names; a value from standard input alone.  Gives: names, places and versions.
Never: prints a value, takes one as a word of the command line, or repeats a name that is none.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import TypeGuard

import click

from ringfence.assembly import Config
from ringfence.assembly.secrets import account_secrets, secret_sources, version_key
from ringfence.cli.ending import COMPLETED, PROBLEMS
from ringfence.cli.opening import chosen_config
from ringfence.cli.options import config_option, json_option
from ringfence.cli.printing import decided, emit_json, say, table
from ringfence.errors import Misuse
from ringfence.execution.secrets import SecretSource, SecretValue, WritableSource
from ringfence.execution.strongbox import Strongbox

_LONGEST_LINE = 65_536


@click.group("secrets")
def command() -> None:
    """List secrets by name, check that each can be read, set one."""


@command.command("list")
@json_option
@config_option
def list_secrets(as_json: bool) -> int:
    """List every secret with its source and the agents whose tools may use it. Nothing is read."""
    config = chosen_config()
    rows = [
        {"name": name, "source": source.kind, "where": source.where, "agents": _users(config, name)}
        for name, source in sorted(secret_sources(config).items())
    ]
    rows += [
        {"name": name, "source": "account", "where": channel, "agents": _users(config, name)}
        for name, channel in sorted(account_secrets(config).items())
    ]
    if as_json:
        emit_json({"secrets": rows})
    elif not rows:
        say("no secret is configured")
    else:
        table(
            ("name", "source", "where", "agents"), [[*list(row.values())[:3], ", ".join(row["agents"])] for row in rows]
        )
    return COMPLETED


def _users(config: Config, name: str) -> list[str]:
    return sorted(agent.name for agent in config.agents.values() if name in agent.permits.secrets.names)


@dataclass(frozen=True, kw_only=True)
class _Checked:
    """One secret, asked for now."""

    name: str
    version: str | None = None
    problem: str | None = None
    remedy: str | None = None


@command.command("check")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@json_option
@config_option
def check(names: tuple[str, ...], as_json: bool) -> int:
    """Ask every source, or those of the named secrets. Exit 0 all can be used, 1 one cannot."""
    config = chosen_config()
    sources = secret_sources(config)
    wanted = {name: _known(name, config) for name in names} if names else sources
    found = asyncio.run(_asked(wanted, key=version_key(config)))
    if as_json:
        emit_json({"secrets": [vars(each) for each in found]})
    else:
        _draw(found)
    return PROBLEMS if any(each.problem for each in found) else COMPLETED


async def _asked(sources: dict[str, SecretSource], *, key: bytes) -> list[_Checked]:
    found = list[_Checked]()
    for name, source in sorted(sources.items()):
        strongbox = Strongbox({name: source}, key=key)
        wrong = (await strongbox.load()).get(name)
        if isinstance(wrong, str):
            found.append(_Checked(name=name, problem=f"the value {wrong}", remedy="bind a longer value"))
        elif wrong is not None:
            found.append(_Checked(name=name, problem=wrong.message, remedy=wrong.remedy))
        else:
            found.append(_Checked(name=name, version=(await strongbox.current([name]))[name].version))
    return found


def _draw(found: list[_Checked]) -> None:
    for each in found:
        if each.problem is None:
            decided("ok:", each.name, f"version {each.version}")
        else:
            decided("error:", f"{each.name}: {each.problem}")
            say(f"  {each.remedy}")
    if not found:
        say("no secret is configured")


@command.command("set")
@click.argument("name", metavar="NAME")
@json_option
@config_option
def set_secret(name: str, as_json: bool) -> int:
    """Read a new value from standard input and keep it: in a file, a directory, or a keyring."""
    config = chosen_config()
    source = _known(name, config)
    if not _is_writable(source):
        raise Misuse(f"`{name}` comes from `{source.kind}`, which is set where it is kept, not from here")
    value = _typed(name)
    problem = value.problem()
    if problem is not None:
        raise Misuse(f"the value {problem}; nothing was changed", remedy="give another value")
    source.store(value)
    version = value.mark(version_key(config))
    if as_json:
        emit_json({"name": name, "version": version})
    else:
        decided("ok:", f"{name} is set, version {version}; calls use it from now on")
    return COMPLETED


def _known(name: str, config: Config) -> SecretSource:
    """The source of this secret; a name that is none may be a value, pasted where the name belongs."""
    if name in account_secrets(config):
        message = (
            f"`{name}` stands for the credential of whatever account a call acts with, and has no value of its own"
        )
        raise Misuse(message, remedy="name the `credential` of one account")
    sources = secret_sources(config)
    if name not in sources:
        raise Misuse("there is no secret of that name in the config", remedy="`ringfence secrets list` names them")
    return sources[name]


def _is_writable(source: SecretSource) -> TypeGuard[WritableSource]:
    return hasattr(source, "store")


def _typed(name: str) -> SecretValue:
    if sys.stdin.isatty():
        return SecretValue(name, click.prompt("Value", hide_input=True, confirmation_prompt=True))
    return SecretValue(name, sys.stdin.read(_LONGEST_LINE).removesuffix("\n").removesuffix("\r"))
