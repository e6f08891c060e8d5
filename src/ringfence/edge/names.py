"""Which names exist for one call, and the synthetic address that stands for each.

Takes: the call's granted hosts and what its programs ask.  Gives: an address that is routed nowhere, or nothing.
Never: asks anybody outside, and under a wildcard never more than a few short names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address

from ringfence.contract.hosts import HostPattern, normalise_host
from ringfence.edge.floor import METADATA_NAMES, read_address
from ringfence.errors import CallRefused
from ringfence.inside.mediation import EDGE_ADDRESS

MOST_WILDCARD_NAMES = 20
MOST_LABEL_BYTES = 63


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A name that was asked for: its one spelling, and its address, or the reason why it has none."""

    name: str
    address: str | None
    reason: str | None = None


class Names:
    """The names of one call."""

    def __init__(self, hosts: Iterable[HostPattern]) -> None:
        listed = tuple(hosts)
        self._exact = {pattern.host for pattern in listed if pattern.reach == "exact"}
        self._bases = tuple(pattern.host for pattern in listed if pattern.reach == "subdomains")
        self._addresses: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._wild = 0

    def name_at(self, address: str) -> str | None:
        """The name that a synthetic address stands for."""
        return self._names.get(address)

    def ask(self, text: str) -> Asked:
        """Answer for one name as a program spelled it."""
        try:
            name = normalise_host(text)
        except CallRefused as refused:
            return Asked(name=ascii(text[:80])[1:-1], address=None, reason=refused.message)
        known = self._addresses.get(name)
        if known is not None:
            return Asked(name=name, address=known)
        reason = self._refusal(name)
        if reason is not None:
            return Asked(name=name, address=None, reason=reason)
        return Asked(name=name, address=self._give(name))

    def _refusal(self, name: str) -> str | None:
        if read_address(name) is not None:
            return "an address is no name"
        if name in METADATA_NAMES:
            return METADATA_NAMES[name]
        if name in self._exact:
            return None
        base = next((base for base in self._bases if name.endswith("." + base)), None)
        if base is None:
            return "the name is not listed"
        if len(name) - len(base) - 1 > MOST_LABEL_BYTES:
            return f"more than {MOST_LABEL_BYTES} bytes of labels under `*.{base}`"
        if self._wild >= MOST_WILDCARD_NAMES:
            return f"more than {MOST_WILDCARD_NAMES} names under wildcards in one call"
        self._wild += 1
        return None

    def _give(self, name: str) -> str:
        address = str(IPv4Address(EDGE_ADDRESS) + 1 + len(self._names))
        self._addresses[name], self._names[address] = address, name
        return address
