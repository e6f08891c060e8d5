"""Opens the runtime that a command works on.

Takes: the config file of this command line.  Gives: what the work returns.
Never: leaves a runtime open, and never lets a log record reach the terminal unasked.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ringfence.assembly import Config, load_config, open_runtime
from ringfence.assembly.config.model import SandboxChoice, ToolModules
from ringfence.cli.options import DEFAULT_CONFIG, config_file
from ringfence.errors import Misuse
from ringfence.runtime import Runtime

Value = TypeVar("Value")


def chosen_config() -> Config:
    """The config of this command line."""
    file = config_file()
    if not Path(file).exists():
        raise Misuse(f"there is no config file `{file}`", remedy=_remedy(file))
    return load_config(file)


def _remedy(file: str) -> str:
    if file == DEFAULT_CONFIG:
        return "`ringfence init` makes one here; `--config FILE` names another"
    return "correct the path after `--config` or in RINGFENCE_CONFIG"


def records_only(config: Config) -> Config:
    """The same config for a command that reads or votes: no tool is described, no rule decides, nothing can run."""
    return replace(
        config,
        tools=ToolModules(modules=(), path=()),
        rules=(),
        rule_ids=(),
        secrets={},
        sandbox=SandboxChoice(kind="deny", env=(), limits=config.sandbox.limits, spares=0),
    )


def with_runtime(work: Callable[[Runtime], Awaitable[Value]], *, config: Config, accept_as: str | None = None) -> Value:
    """Open a runtime, do the work, close it."""
    quieten_logs()

    async def opened() -> Value:
        async with open_runtime(config, accept_as=accept_as) as runtime:
            return await work(runtime)

    return asyncio.run(opened())


def quieten_logs() -> None:
    """Without a listener, Python prints warnings and tracebacks to the terminal."""
    if os.environ.get("RINGFENCE_DEBUG"):
        logging.basicConfig(level=logging.DEBUG)
    else:
        logging.getLogger("ringfence").addHandler(logging.NullHandler())
        logging.getLogger("asyncio").addHandler(logging.NullHandler())
