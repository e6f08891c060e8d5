"""How far a contract is trusted: what was seen first, what an operator accepted, what changed since.

Takes: a contract as offered now and the pin that is on record.  Gives: its standing.
Never: changes a pin by itself; a changed contract waits for a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from ringfence.contract.tool import Tool


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
    """What is on record about one tool of one source."""

    source: str
    tool: str
    fingerprint: str
    source_digest: str
    trust: Trust


@dataclass(frozen=True, kw_only=True)
class Offered:
    """A contract as a source offers it now; `accepted_by` names who vouches for it, if anybody does.

    `first_load` vouches for a contract that is new; `review` also for one that changed.
    """

    tool: Tool
    source: str
    source_digest: str
    accepted_by: str | None = None
    acceptance: Literal["first_load", "review"] = "first_load"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What the pin on record makes of an offered contract."""

    trust: Trust
    change: Change | None
    quarantine: str | None = None


class Pins(Protocol):
    """Where pins are kept."""

    async def pins(self) -> Mapping[tuple[str, str], Pin]:
        """Every pin on record, by (source, tool)."""
        ...


def standing(offered: Offered, *, pin: Pin | None) -> Standing:
    """Whether the contract is new, as pinned, or not what it was."""
    vouched = Trust.PINNED if offered.accepted_by else None
    if pin is None:
        return Standing(trust=vouched or Trust.IMPORTED, change=Change.REGISTERED)
    if pin.fingerprint != offered.tool.fingerprint:
        if vouched and offered.acceptance == "review":
            return Standing(trust=vouched, change=Change.REGISTERED)
        return Standing(trust=pin.trust, change=Change.DEFINITION, quarantine="definition_changed")
    trust = vouched or pin.trust
    if pin.source_digest != offered.source_digest:
        return Standing(trust=trust, change=Change.CODE)
    return Standing(trust=trust, change=None if trust is pin.trust else Change.REGISTERED)
