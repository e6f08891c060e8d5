"""What stands for a secret in one call: a placeholder for the jail, and for the edge the value with its one slot.

Takes: a grant, and the secrets as they are now.  Gives: `Placements`, made for one call and good for no other.
Never: gives the jail a value, except to a tool whose contract has it revealed.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from ringfence.agents.accounts import Account
from ringfence.contract.capabilities import Secrets
from ringfence.contract.hosts import HostPattern
from ringfence.execution.secrets import SecretValue
from ringfence.execution.strongbox import Strongbox
from ringfence.policy.grant import Grant
from ringfence.sanitise.known import Scrubber


@dataclass(frozen=True, kw_only=True)
class Placement:
    """One secret of one call: where its value may go, and what the tool holds instead."""

    name: str
    placeholder: str
    value: SecretValue
    version: str
    hosts: tuple[HostPattern, ...]
    header: str
    reveal: bool

    def in_the_jail(self) -> dict[str, str]:
        """What the tool is given."""
        shown = {"placeholder": self.placeholder}
        return {**shown, "revealed": self.value.revealed()} if self.reveal else shown


@dataclass(frozen=True, kw_only=True)
class Placements:
    """All secrets of one call. `marks` finds a placeholder of any call in a text, and `known` a value."""

    each: tuple[Placement, ...]
    marks: Scrubber
    known: Scrubber

    def in_the_jail(self) -> dict[str, Any]:
        return {placement.name: placement.in_the_jail() for placement in self.each}

    @property
    def versions(self) -> dict[str, str]:
        """Which value of each secret the call uses, for the trail."""
        return {placement.name: placement.version for placement in self.each}


async def placements_for(grant: Grant, *, strongbox: Strongbox, account: Account | None = None) -> Placements | None:
    """Fresh placeholders for every granted secret of the account that the call acts with; nothing without any."""
    if "secrets" not in grant.kinds:
        return None
    needs = [need for need in grant.capabilities if isinstance(need, Secrets)]
    behind = {name: strongbox.behind(name, account=account) for need in needs for name in need.names}
    held = await strongbox.current(dict.fromkeys(behind.values()))
    placed = tuple(
        Placement(
            name=name,
            placeholder=strongbox.marker + secrets.token_hex(16),
            value=held[behind[name]].value,
            version=held[behind[name]].version,
            hosts=need.hosts or (),
            header=need.at.partition(":")[2].lower(),
            reveal=need.reveal,
        )
        for need in needs
        for name in need.names
    )
    return Placements(each=placed, marks=strongbox.marks, known=strongbox.scrubber)
