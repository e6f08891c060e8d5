"""REGISTER: the tools that were admitted, each with its fingerprint, its origin and its trust.

Takes: offered contracts and the pins on record.  Gives: a `Registry`, and what the trail must be told.
Never: admits two names that read the same, or a contract that failed the gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ringfence.contract.call import Shape
from ringfence.contract.safety import Egress, Safety
from ringfence.contract.tool import Tool
from ringfence.errors import DeclarationRefused
from ringfence.registry.integrity import faults
from ringfence.registry.names import NameIndex
from ringfence.registry.pins import Change, Offered, Pin, Trust, standing


@dataclass(frozen=True, kw_only=True)
class RegisteredTool:
    """An admitted contract, with what the runtime needs to enforce it."""

    tool: Tool
    source: str
    source_digest: str
    trust: Trust
    quarantine: str | None
    shape: Shape = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def description(self) -> str:
        return self.tool.description

    @property
    def input_schema(self) -> dict[str, Any]:
        return self.tool.input_schema

    @property
    def output_schema(self) -> dict[str, Any]:
        return self.tool.output_schema

    @property
    def safety(self) -> Safety:
        return self.tool.safety

    @property
    def egress(self) -> Egress:
        return self.tool.egress

    @property
    def fingerprint(self) -> str:
        return self.tool.fingerprint


@dataclass(frozen=True, kw_only=True)
class Registration:
    """One line for the trail: what happened to which tool, and who vouched."""

    change: Change
    tool: RegisteredTool
    accepted_by: str | None
    was: Pin | None


@dataclass(frozen=True, kw_only=True)
class Registry:
    """All admitted tools by name."""

    tools: Mapping[str, RegisteredTool]
    registrations: tuple[Registration, ...]


def register(offers: Iterable[Offered], *, pins: Mapping[tuple[str, str], Pin]) -> Registry:
    """Admit what passes the gate; refuse the rest with every fault named."""
    names = NameIndex()
    tools: dict[str, RegisteredTool] = {}
    registrations: list[Registration] = []
    for offered in offers:
        names.add(offered.tool.name)
        pin = pins.get((offered.source, offered.tool.name))
        registered, change = _admit(offered, pin=pin)
        tools[registered.name] = registered
        if change is not None:
            registrations.append(Registration(change=change, tool=registered, accepted_by=offered.accepted_by, was=pin))
    return Registry(tools=MappingProxyType(tools), registrations=tuple(registrations))


def _admit(offered: Offered, *, pin: Pin | None) -> tuple[RegisteredTool, Change | None]:
    found = faults(offered.tool)
    if found:
        listed = "; ".join(map(str, found[:5]))
        raise DeclarationRefused(f"tool `{offered.tool.name}` of {offered.source} cannot be registered: {listed}")
    stands = standing(offered, pin=pin)
    registered = RegisteredTool(
        tool=offered.tool,
        source=offered.source,
        source_digest=offered.source_digest,
        trust=stands.trust,
        quarantine=stands.quarantine,
        shape=Shape(offered.tool),
    )
    return registered, stands.change
