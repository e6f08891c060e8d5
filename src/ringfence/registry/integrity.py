"""The gate before the registry: is this contract fit to be read by a model?

Takes: a declared contract.  Gives: the faults found in every string that a model will read.
Never: repairs anything; what is at fault is refused or quarantined by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ringfence.contract.shapes import is_list, is_object
from ringfence.contract.tool import Tool
from ringfence.registry.names import valid_name
from ringfence.sanitise import scan_description, visible

DESCRIPTION_CHARACTERS = 1_024


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why a contract may not be shown to a model."""

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where} {self.problem}"


def faults(tool: Tool) -> tuple[Fault, ...]:
    """Everything at fault with a contract; empty means it may be registered."""
    return (*_name_faults(tool), *_description_faults(tool), *_text_faults(tool))


def _name_faults(tool: Tool) -> Iterator[Fault]:
    if not valid_name(tool.name):
        yield Fault(where="the name", problem="is not of the form `[a-z][a-z0-9_]{0,63}`")


def _description_faults(tool: Tool) -> Iterator[Fault]:
    if len(tool.description) > DESCRIPTION_CHARACTERS:
        yield Fault(where="the description", problem=f"is longer than {DESCRIPTION_CHARACTERS} characters")


def _text_faults(tool: Tool) -> Iterator[Fault]:
    texts = [
        ("the description", tool.description),
        *(("a label", label) for label in tool.labels),
        *_schema_texts(tool.input_schema),
        *_schema_texts(tool.output_schema),
    ]
    for where, text in texts:
        for finding in scan_description(text):
            yield Fault(where=visible(where), problem=f"has a finding: {finding.kind}")


def _schema_texts(node: Any, *, where: str = "the schema") -> Iterator[tuple[str, str]]:
    """Every string in a schema: a model is shown the whole of it, names, defaults and examples too."""
    if isinstance(node, str):
        yield (where, node)
    elif is_list(node):
        for item in node:
            yield from _schema_texts(item, where=where)
    elif is_object(node):
        for key, value in node.items():
            yield (f"a name in {where}", key)
            yield from _schema_texts(value, where=f"`{key}` of {where}" if key.isidentifier() else where)
