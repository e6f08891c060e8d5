"""The tools of a module: imported once for all calls, or anew by each call that asks for one.

Takes: a module's name.  Gives: tools by name.  Never: imports before somebody asks.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator, Mapping

from ringfence.contract.tool import Tool
from ringfence.inside.describe import tools_of


def import_tools(module: str) -> dict[str, Tool]:
    """Import now, and keep what was made out of the way of every child."""
    tools = tools_of(importlib.import_module(module))
    sys.stdout.flush()
    sys.stderr.flush()
    gc.collect()
    gc.freeze()
    return tools


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
            self._tools = tools_of(importlib.import_module(self._module))
        return self._tools
