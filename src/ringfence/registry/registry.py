"""REGISTER: the tools that were admitted, each with its fingerprint, its origin and its trust.

Takes: offered contracts and the pins on record.  Gives: a `Registry`, and what the trail must be told.
Never: admits two names that read the same, or a contract that failed the gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from ringfence.contract.call import Shape
from ringfence.contract.remembering import remembered
from ringfence.contract.safety import Egress, Safety
from ringfence.contract.tool import Tool
from ringfence.errors import DeclarationRefused
from ringfence.registry.integrity import faults
from ringfence.registry.names import NameIndex
from ringfence.registry.pins import (
    Change,
    CodeChange,
    Key,
    Ledger,
    Offered,
    Pin,
    Sighting,
    Standing,
    Trust,
    quarantine,
    standing,
)
from ringfence.sanitise import visible

_MOST_FAULTS = 5
FOLDER = "folder:"


@dataclass(frozen=True, kw_only=True)
class RegisteredTool:
    """An admitted contract, with what the runtime needs to enforce it."""

    tool: Tool
    source: str
    source_digest: str
    trust: Trust
    quarantine: str | None
    shape: Shape = field(compare=False, repr=False)

    @remembered
    def key(self) -> Key:
        return (self.source, self.tool.name)

    @remembered
    def runs_as(self) -> Literal["python", "process"]:
        """What its source is: a module that declares functions, or a folder with a program in any language."""
        return "process" if self.source.startswith(FOLDER) else "python"

    @remembered
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

    @remembered
    def safety(self) -> Safety:
        return self.tool.safety

    @remembered
    def egress(self) -> Egress:
        return self.tool.egress

    @remembered
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
class SetChange:
    """A source that shows all of its tools shows others than were accepted."""

    source: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Registry:
    """All admitted tools by name; `registrations`, `sets` and `sightings` are what the record must be told."""

    tools: Mapping[str, RegisteredTool]
    registrations: tuple[Registration, ...] = ()
    sets: tuple[SetChange, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    gone: frozenset[Key] = frozenset()

    @property
    def is_news(self) -> bool:
        """Whether there is anything to put on record."""
        return bool(self.registrations or self.sets or self.sightings or self.gone)


def register(
    offers: Iterable[Offered], *, ledger: Ledger, code: CodeChange = "record", whole: frozenset[str] = frozenset()
) -> Registry:
    """Admit what passes the gate; refuse the author's own that does not, with every fault named.

    `whole` names the sources that show all of their tools here: what is missing from one of them was removed.
    """
    names = NameIndex()
    tools: dict[str, RegisteredTool] = {}
    registrations: list[Registration] = []
    sightings: list[Sighting] = []
    listed = tuple(offers)
    for offered in listed:
        names.add(offered.tool.name)
        problems = _gate(offered)
        stands = standing(offered, ledger=ledger, code=code, faults=problems)
        registered = _admitted(offered, stands=stands)
        tools[registered.name] = registered
        sightings.append(_sighting(offered, faults=problems))
        if stands.change is not None:
            was = ledger.pins.get(offered.key)
            registrations.append(
                Registration(change=stands.change, tool=registered, accepted_by=offered.accepted_by, was=was)
            )
    return Registry(
        tools=MappingProxyType(tools),
        registrations=tuple(registrations),
        sets=_set_changes(listed, ledger=ledger, whole=whole),
        sightings=tuple(each for each in sightings if ledger.sightings.get((each.source, each.tool)) != each),
        gone=_gone(listed, ledger=ledger, whole=whole),
    )


def restated(registry: Registry, *, ledger: Ledger, code: CodeChange) -> Registry:
    """The same tools as the record sees them now, whichever process changed it."""
    return Registry(
        tools=MappingProxyType(
            {name: _restated(tool, ledger=ledger, code=code) for name, tool in registry.tools.items()}
        )
    )


def _restated(registered: RegisteredTool, *, ledger: Ledger, code: CodeChange) -> RegisteredTool:
    trust, why = quarantine(
        registered.key,
        fingerprint=registered.fingerprint,
        source_digest=registered.source_digest,
        ledger=ledger,
        code=code,
    )
    return replace(registered, trust=trust, quarantine=why)


def _gate(offered: Offered) -> tuple[str, ...]:
    """What keeps a foreign contract out of every view; the author's own is refused on the spot."""
    found = tuple(map(str, faults(offered.tool)[:_MOST_FAULTS]))
    if found and offered.origin == "own":
        raise DeclarationRefused(
            f"tool `{visible(offered.tool.name)}` of {visible(offered.source)} cannot be registered: {'; '.join(found)}"
        )
    return found


def _admitted(offered: Offered, *, stands: Standing) -> RegisteredTool:
    return RegisteredTool(
        tool=offered.tool,
        source=offered.source,
        source_digest=offered.source_digest,
        trust=stands.trust,
        quarantine=stands.quarantine,
        shape=Shape(offered.tool),
    )


def _sighting(offered: Offered, *, faults: tuple[str, ...]) -> Sighting:
    return Sighting(
        source=offered.source,
        tool=offered.tool.name,
        fingerprint=offered.tool.fingerprint,
        source_digest=offered.source_digest,
        faults=faults,
    )


def _set_changes(offers: tuple[Offered, ...], *, ledger: Ledger, whole: frozenset[str]) -> tuple[SetChange, ...]:
    """Accepted sources whose tools are others than they were; told once, when the difference is first seen."""
    gone = _gone(offers, ledger=ledger, whole=whole)
    changes: list[SetChange] = []
    for source in sorted(whole & ledger.accepted_sources()):
        new = [each.tool.name for each in offers if each.source == source and _is_added(each, ledger=ledger)]
        lost = [tool for where, tool in gone if where == source]
        if new or lost:
            changes.append(SetChange(source=source, added=tuple(sorted(new)), removed=tuple(sorted(lost))))
    return tuple(changes)


def _is_added(offered: Offered, *, ledger: Ledger) -> bool:
    seen = ledger.sightings.get(offered.key)
    return ledger.pin(offered.key) is None and (seen is None or seen.presence == "gone")


def _gone(offers: tuple[Offered, ...], *, ledger: Ledger, whole: frozenset[str]) -> frozenset[Key]:
    """What a whole source was seen to offer before and does not offer now."""
    now = {each.key for each in offers}
    offered = (key for key, seen in ledger.sightings.items() if seen.presence == "offered")
    return frozenset(key for key in offered if key[0] in whole and key not in now)
