"""Where tools come from: modules that the config names, and tools that a program hands over.

Takes: a config and tools from code.  Gives: offers for the registry, and the sandbox that will run them.
Never: imports a module that a config names; a jail describes it.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ringfence.assembly.config import Config
from ringfence.contract.fingerprint import digest
from ringfence.contract.tool import Tool
from ringfence.errors import ConfigInvalid, DeclarationRefused
from ringfence.execution.sandbox import DenyAllSandbox, Sandbox
from ringfence.registry.pins import Offered

FROM_CODE = "code"


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What can describe tools, and what will run them."""

    sandbox: Sandbox

    async def offers(self, config: Config, tools: Sequence[Tool], *, accept_as: str | None) -> list[Offered]:
        """Every contract on offer: the config's modules first, then what code handed over."""
        if config.tools.modules:
            raise ConfigInvalid((f"{config.locate(('tools', 'modules'))}: no jail can describe these modules here",))
        return [_handed_over(tool) for tool in tools]


@asynccontextmanager
async def open_sources(config: Config, *, dangerously_sandbox: Sandbox | None) -> AsyncIterator[Sources]:
    """The sandbox of this configuration; none is configured unless the file says so."""
    sandbox: Sandbox = dangerously_sandbox or DenyAllSandbox()
    try:
        yield Sources(sandbox=sandbox)
    finally:
        await sandbox.close()


def _handed_over(tool: Tool) -> Offered:
    module, file = _home(tool)
    return Offered(tool=tool, source=f"code:{module}", source_digest=digest(file.read_bytes()), accepted_by=FROM_CODE)


def _home(tool: Tool) -> tuple[str, Path]:
    """The module and file that a jail could import the tool from again."""
    function = tool.implementation.function if tool.implementation else None
    qualified = getattr(function, "__qualname__", "<nowhere>")
    module = sys.modules.get(getattr(function, "__module__", ""))
    file = getattr(module, "__file__", None)
    if module is None or file is None or "<" in qualified:
        raise DeclarationRefused(
            f"tool `{tool.name}` cannot be imported again in a jail: it is not a plain function of a module file",
            remedy="declare it at the top level of a module that has a file",
        )
    return module.__name__, Path(file)
