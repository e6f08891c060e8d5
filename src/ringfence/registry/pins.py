"""How far a contract is trusted: what was seen first, what an operator accepted, what changed since.

Takes: a contract as offered now and what is on record about its source.  Gives: its standing.
Never: changes a pin by itself; a changed contract waits for a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol, TypeAlias

from ringfence.contract.tool import Tool

Key: TypeAlias = tuple[str, str]
CodeChange: TypeAlias = Literal["record", "strict"]

DEFINITION_CHANGED = "definition_changed"
CODE_CHANGED = "code_changed"
FAILED_GATE = "failed_gate"


class Trust(StrEnum):
    """How a contract came to be registered."""

    UNTRUSTED = "untrusted"  # failed the gate: in no view
    IMPORTED = "imported"  # first sight recorded: visible, and more than reading needs a vote
    PINNED = "pinned"  # accepted by an operator


class Change(StrEnum):
    """What registration has to tell the trail."""

    REGISTERED = "tool_registered"
    DEFINITION = "definition_changed"
    CODE = "code_changed"


@dataclass(frozen=True, kw_only=True)
class Pin:
    """What is on record about one tool of one source; a retired one was accepted as gone."""

    source: str
    tool: str
    fingerprint: str
    source_digest: str
    trust: Trust
    retired: bool = False


@dataclass(frozen=True, kw_only=True)
class Offered:
    """A contract as a source offers it now; `accepted_by` names who vouches for it, if anybody does.

    `first_load` vouches for a contract that is new; `review` also for one that changed. A `foreign` contract that
    fails the gate is kept as untrusted; the author's own is refused.
    """

    tool: Tool
    source: str
    source_digest: str
    accepted_by: str | None = None
    acceptance: Literal["first_load", "review"] = "first_load"
    origin: Literal["own", "foreign"] = "own"

    @property
    def key(self) -> Key:
        return (self.source, self.tool.name)


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """What a source was last seen to offer under one name, by whichever process; `faults` failed it at the gate."""

    source: str
    tool: str
    fingerprint: str
    source_digest: str
    faults: tuple[str, ...] = ()
    presence: Literal["offered", "gone"] = "offered"


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Pins and sightings as every process finds them; the version moves whenever one of them does."""

    version: int = 0
    pins: Mapping[Key, Pin] = field(default_factory=dict[Key, Pin])
    sightings: Mapping[Key, Sighting] = field(default_factory=dict[Key, Sighting])

    def pin(self, key: Key) -> Pin | None:
        """The pin in force for a tool of a source; a retired one is none."""
        found = self.pins.get(key)
        return None if found is None or found.retired else found

    def accepted_sources(self) -> frozenset[str]:
        """Sources whose set of tools a person has accepted."""
        return frozenset(pin.source for pin in self.pins.values() if pin.trust is Trust.PINNED and not pin.retired)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What the record makes of an offered contract."""

    trust: Trust
    change: Change | None
    quarantine: str | None = None


class Pins(Protocol):
    """Where pins are kept."""

    async def pins(self) -> Mapping[Key, Pin]:
        """Every pin on record, by (source, tool)."""
        ...

    async def ledger_version(self) -> int:
        """How often pins or sightings have changed; cheap enough to ask before every call."""
        ...

    async def ledger(self) -> Ledger:
        """Everything on record about sources and their tools."""
        ...


def standing(offered: Offered, *, ledger: Ledger, code: CodeChange, faults: tuple[str, ...] = ()) -> Standing:
    """Whether the contract is new, as pinned, or not what it was."""
    if faults:
        return _untrusted(offered, ledger=ledger)
    found = _judged(offered, ledger=ledger, code=code)
    if found.quarantine and _seen_before(offered, ledger=ledger):
        return Standing(trust=found.trust, change=None, quarantine=found.quarantine)
    return found


def _judged(offered: Offered, *, ledger: Ledger, code: CodeChange) -> Standing:
    pin = ledger.pin(offered.key)
    vouched = Trust.PINNED if offered.accepted_by else None
    reviewed = vouched is not None and offered.acceptance == "review"
    if pin is None:
        if vouched is None and offered.source in ledger.accepted_sources():
            return Standing(trust=Trust.IMPORTED, change=Change.DEFINITION, quarantine=DEFINITION_CHANGED)
        return Standing(trust=vouched or Trust.IMPORTED, change=Change.REGISTERED)
    if pin.fingerprint != offered.tool.fingerprint:
        if reviewed:
            return Standing(trust=Trust.PINNED, change=Change.REGISTERED)
        return Standing(trust=pin.trust, change=Change.DEFINITION, quarantine=DEFINITION_CHANGED)
    trust = vouched or pin.trust
    if pin.source_digest != offered.source_digest:
        if reviewed:
            return Standing(trust=trust, change=Change.REGISTERED)
        return Standing(trust=trust, change=Change.CODE, quarantine=CODE_CHANGED if code == "strict" else None)
    return Standing(trust=trust, change=None if trust is pin.trust else Change.REGISTERED)


def _untrusted(offered: Offered, *, ledger: Ledger) -> Standing:
    pin = ledger.pin(offered.key)
    change = Change.REGISTERED if pin is None else Change.DEFINITION
    known = pin is not None and pin.fingerprint == offered.tool.fingerprint
    return Standing(
        trust=Trust.UNTRUSTED,
        change=None if known or _seen_before(offered, ledger=ledger) else change,
        quarantine=FAILED_GATE,
    )


def _seen_before(offered: Offered, *, ledger: Ledger) -> bool:
    seen = ledger.sightings.get(offered.key)
    now = (offered.tool.fingerprint, offered.source_digest)
    return seen is not None and (seen.fingerprint, seen.source_digest) == now


def quarantine(
    key: Key, *, fingerprint: str, source_digest: str, ledger: Ledger, code: CodeChange
) -> tuple[Trust, str | None]:
    """What the record makes of a contract that a process holds: its trust, and why it is out of use, if it is.

    A contract is out of use where it is not the pinned one, and also where it is, once any process has seen
    the source offer another: what the source is now is not what was accepted.
    """
    pin, seen = ledger.pin(key), ledger.sightings.get(key)
    if pin is None:
        return Trust.IMPORTED, DEFINITION_CHANGED
    if pin.trust is Trust.UNTRUSTED:
        return pin.trust, FAILED_GATE
    if pin.fingerprint != fingerprint or (seen is not None and seen.fingerprint != pin.fingerprint):
        return pin.trust, DEFINITION_CHANGED
    held = {source_digest, seen.source_digest if seen else source_digest}
    if code == "strict" and held != {pin.source_digest}:
        return pin.trust, CODE_CHANGED
    return pin.trust, None
