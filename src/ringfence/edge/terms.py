"""What one call may reach, as the edge holds it: hosts, addresses, methods and amounts.

Takes: a job's grant and class.  Gives: `Terms`, and the destination behind the address that a program dialled.
Never: looks at a byte of the connection.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringfence.contract.capabilities import Network
from ringfence.contract.hosts import DEFAULT_PORTS, allows
from ringfence.contract.safety import Egress
from ringfence.edge.floor import Address, closed, read_address
from ringfence.edge.names import Names
from ringfence.edge.resolve import Closed
from ringfence.execution.placing import Placements
from ringfence.policy.grant import Way


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How much one call may take of the edge."""

    open_connections: int = 256
    connections: int = 10_000
    questions: int = 50_000
    bytes_out: int = 1 << 30
    bytes_in: int = 1 << 30
    bytes_held: int = 128 << 20  # of bodies that are being read, all at once
    connect_seconds: float = 10.0
    head_seconds: float = 20.0


@dataclass(frozen=True, kw_only=True)
class Terms:
    """One call's terms."""

    network: Network
    egress: Egress
    way: Way
    idempotency_key: str
    bounds: Bounds = Bounds()
    placements: Placements | None = None


@dataclass(frozen=True, kw_only=True)
class Destination:
    """Where a connection leads: a listed name, or a listed address that has no name."""

    host: str
    port: int
    named: bool

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def destination(address: str, *, port: int, terms: Terms, names: Names) -> Destination:
    """The destination that a program dialled, or `Closed`."""
    name = names.name_at(address)
    if name is not None:
        return _listed_host(name, port=port, terms=terms)
    read = read_address(address)
    if read is None:
        raise Closed("not an address")
    if not _is_listed(read, port=port, network=terms.network):
        why = closed(str(read), port=port) or "it is not listed"
        raise Closed(f"address {read} at port {port} is closed: {why}")
    return Destination(host=str(read), port=port, named=False)


def listed(host: str, *, port: int, terms: Terms) -> Destination:
    """The destination that a request names, or `Closed`."""
    read = read_address(host.removeprefix("[").removesuffix("]"))
    if read is not None and _is_listed(read, port=port, network=terms.network):
        return Destination(host=str(read), port=port, named=False)
    return _listed_host(host, port=port, terms=terms)


def _listed_host(host: str, *, port: int, terms: Terms) -> Destination:
    if not allows(terms.network.hosts, host, port):
        raise Closed(f"`{ascii(host[:80])[1:-1]}` at port {port} is not listed")
    return Destination(host=host, port=port, named=True)


def _is_listed(address: Address, *, port: int, network: Network) -> bool:
    if allows(network.hosts, str(address), port):
        return True
    return port in DEFAULT_PORTS and any(address.version == net.version and address in net for net in network.cidrs)
