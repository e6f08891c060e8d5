"""The tools that a module declares, and their contracts as documents.

Takes: an imported module.  Gives: tools by name.  Never: picks between two tools of one name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ringfence.contract.tool import Tool
from ringfence.errors import DeclarationRefused


def tools_of(module: ModuleType) -> dict[str, Tool]:
    """Every tool among the module's names, by the tool's own name."""
    found: dict[str, Tool] = {}
    for value in list(vars(module).values()):
        if isinstance(value, Tool) and found.setdefault(value.name, value) is not value:
            raise DeclarationRefused(f"module `{module.__name__}` declares two tools named `{value.name}`")
    return found


def documents(tools: Mapping[str, Tool]) -> list[dict[str, Any]]:
    return [tool.document() for tool in tools.values()]


def fingerprints(tools: Mapping[str, Tool]) -> dict[str, str]:
    return {name: tool.fingerprint for name, tool in tools.items()}
