"""Addresses that stay closed whatever a policy lists, and those that open only by their exact address and port.

Takes: an address in any spelling that a resolver or a socket gives, a port, and what an operator listed as private.
Gives: the reason why it is closed, or None.  Never: resolves a name; an address that it cannot read is closed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Literal, TypeAlias

from ringfence.contract.hosts import HostPattern

Address: TypeAlias = IPv4Address | IPv6Address
Opens: TypeAlias = Literal["never", "listed"]


@dataclass(frozen=True, kw_only=True)
class Range:
    """Some addresses, why they are closed, and whether an operator can list one of them with its port."""

    network: IPv4Network | IPv6Network
    opens: Opens
    reason: str


def _range(network: str, opens: Opens, reason: str) -> Range:
    return Range(network=ip_network(network), opens=opens, reason=reason)


# The first row that holds an address decides, so single addresses stand before the ranges they lie in.
RANGES: tuple[Range, ...] = (
    _range("169.254.0.0/16", "never", "link-local: here cloud providers answer with the machine's own credentials"),
    _range("fe80::/10", "never", "link-local: only neighbours on the same wire have these"),
    _range("fd00:ec2::/32", "never", "metadata of Amazon: credentials of the machine, time and names"),
    _range("fd20:ce::/32", "never", "metadata of Google Cloud: credentials of the machine"),
    _range("100.100.100.200/32", "never", "metadata of Alibaba Cloud: credentials of the machine"),
    _range("192.0.0.192/32", "never", "metadata of Oracle Cloud: credentials of the machine"),
    _range("168.63.129.16/32", "never", "the agent channel of Azure: certificates and settings of the machine"),
    _range("0.0.0.0/8", "never", "this network: a connection to it ends at the machine itself"),
    _range("::/128", "never", "the unspecified address: a connection to it ends at the machine itself"),
    _range("255.255.255.255/32", "never", "broadcast"),
    _range("224.0.0.0/4", "never", "multicast"),
    _range("ff00::/8", "never", "multicast"),
    _range("64:ff9b::/96", "never", "NAT64: another address is hidden in it, and a gateway would go there"),
    _range("64:ff9b:1::/48", "never", "NAT64 of one's own network: another address is hidden in it"),
    _range("2002::/16", "never", "6to4: another address is hidden in it"),
    _range("2001::/32", "never", "Teredo: another address is hidden in it"),
    _range("198.18.0.0/15", "never", "the edge's own synthetic addresses, and a range for benchmarks"),
    _range("240.0.0.0/4", "never", "reserved"),
    _range("127.0.0.0/8", "listed", "loopback: what listens there trusts the machine"),
    _range("::1/128", "listed", "loopback: what listens there trusts the machine"),
    _range("10.0.0.0/8", "listed", "private (RFC 1918)"),
    _range("172.16.0.0/12", "listed", "private (RFC 1918); containers live here"),
    _range("192.168.0.0/16", "listed", "private (RFC 1918)"),
    _range("100.64.0.0/10", "listed", "shared between a provider and its customers (RFC 6598); overlay networks"),
    _range("fc00::/7", "listed", "unique local"),
    _range("fec0::/10", "listed", "site-local, of old"),
    _range("192.0.0.0/24", "listed", "protocol assignments"),
    _range("192.0.2.0/24", "listed", "documentation; nobody's, so whoever answers is near"),
    _range("198.51.100.0/24", "listed", "documentation; nobody's, so whoever answers is near"),
    _range("203.0.113.0/24", "listed", "documentation; nobody's, so whoever answers is near"),
    _range("2001:db8::/32", "listed", "documentation; nobody's, so whoever answers is near"),
    _range("192.88.99.0/24", "never", "relays of 6to4"),
)

# Names under which clouds publish the same; a wildcard must not reach them, whatever they resolve to.
METADATA_NAMES = {
    "metadata.google.internal": "metadata of Google Cloud",
    "metadata.goog": "metadata of Google Cloud",
    "metadata": "metadata of Google Cloud, by its short name",
    "instance-data": "metadata of Amazon, by its short name",
    "instance-data.ec2.internal": "metadata of Amazon",
    "metadata.azure.internal": "metadata of Azure",
    "metadata.tencentyun.com": "metadata of Tencent Cloud",
    "metadata.platformequinix.com": "metadata of Equinix Metal",
    "metadata.oraclecloud.com": "metadata of Oracle Cloud",
}
_GLOBAL_UNICAST = ip_network("2000::/3")


@functools.lru_cache(maxsize=1024)
def read_address(text: str) -> Address | None:
    """The address as the kernel would dial it: a mapped one is the IPv4 address in it; None for what is none."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return address
    if address.scope_id is not None:
        return None
    return address.ipv4_mapped or address


def closed(address: str, *, port: int, private: Iterable[HostPattern] = ()) -> str | None:
    """Why this address is closed at this port; None where nothing speaks against it."""
    read = read_address(address)
    if read is None:
        return "not an address"
    found = next((row for row in RANGES if read.version == row.network.version and read in row.network), None)
    if found is None:
        return None if _is_public(read) else _unless_listed(read, port, private, "not a public address")
    if found.opens == "never":
        return found.reason
    return _unless_listed(read, port, private, found.reason)


def _is_public(address: Address) -> bool:
    # What no row names is public only if the registries say so, and IPv6 outside 2000::/3 is not given out at all.
    return address.is_global and (address.version == 4 or address in _GLOBAL_UNICAST)


def _unless_listed(address: Address, port: int, private: Iterable[HostPattern], reason: str) -> str | None:
    listed = any(pattern.host == str(address) and port in pattern.ports for pattern in private)
    return None if listed else reason
