"""The tools of a module: imported once for all calls, or anew by each call that asks for one.

Takes: a module's name.  Gives: tools by name.  Never: imports before somebody asks.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType

import ringfence
from ringfence.contract.tool import Tool
from ringfence.inside.describe import tools_of


def import_tools(module: str) -> dict[str, Tool]:
    """Import now, and keep what was made out of the way of every child."""
    tools = tools_of(_imported(module))
    sys.stdout.flush()
    sys.stderr.flush()
    gc.collect()
    gc.freeze()
    return tools


def _imported(module: str) -> ModuleType:
    package, _, rest = module.partition(".")
    if package == ringfence.__name__ and rest:
        # This package is loaded already, so that its parts are not looked for where the kept source lies.
        ringfence.__path__.insert(0, os.path.join(sys.path[0], package))
    return importlib.import_module(module)


class ImportedWhenAsked(Mapping[str, Tool]):
    """Tools whose module is imported by the process that first looks at one."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._tools: dict[str, Tool] | None = None

    def __getitem__(self, name: str) -> Tool:
        return self._imported()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._imported())

    def __len__(self) -> int:
        return len(self._imported())

    def _imported(self) -> dict[str, Tool]:
        if self._tools is None:
            self._tools = tools_of(_imported(self._module))
        return self._tools
