"""What the network edge is to a sandbox: it takes a call's sockets and gives an account of what went through them.

Takes: a job with its warrant, and the descriptors by which one call leaves its jail.  Gives: a `Passage` for that call.
Never: decides whether a call may run; and nothing here opens a connection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ringfence.contract.capabilities import Network
from ringfence.contract.hosts import DEFAULT_PORTS
from ringfence.contract.safety import Egress
from ringfence.errors import CallRefused
from ringfence.execution.sandbox import Job
from ringfence.policy.grant import Grant, Way, way_out

RESOLVER = "127.0.0.1"
ROOTS_FILE = "/etc/ringfence/roots.pem"


@dataclass(frozen=True, kw_only=True, eq=False)
class Trust:
    """The certificates that programs of one jail trust; the edge keeps the key for as long as the jail keeps this."""

    roots: str


class Hearing(Protocol):
    """What can be told to listen at a descriptor; an event loop can, too."""

    def add_reader(self, fd: int, callback: Callable[[], object], /) -> object: ...

    def remove_reader(self, fd: int, /) -> object: ...


@dataclass(frozen=True, kw_only=True)
class Ways:
    """The sockets of one jail's network that were handed out: listeners, and the one that names are asked over.

    `hearing` tells when there is something at them; the running event loop does where nobody else is named.
    """

    listeners: tuple[int, ...]
    resolver: int
    hearing: Hearing | None = None

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (*self.listeners, self.resolver)


@dataclass(frozen=True, kw_only=True)
class Asking:
    """The way out of a jail that has no network of its own: the kernel asks here before it makes a connection.

    `belongs` says whether a process is one of this call's.
    """

    listener: int
    belongs: Callable[[int], bool]

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (self.listener,)


WaysOut: TypeAlias = Ways | Asking


class Passage(Protocol):
    """One call's way out, for as long as the call lasts."""

    def close(self) -> dict[str, Any]:
        """End every connection; gives what went through, as the trail keeps it."""
        ...


class Edge(Protocol):
    """Makes every connection of every call, outside the jail."""

    def trust(self, grant: Grant, *, way: Way) -> Trust:
        """What a new jail is to trust; each jail has an authority of its own."""
        ...

    def open(self, job: Job, *, trust: Trust, ways: WaysOut) -> Passage:
        """Let one call out, within its grant and its warrant; the sockets are the edge's from here on."""
        ...

    async def close(self) -> None:
        """End what is still open."""
        ...


def network_of(grant: Grant) -> Network | None:
    return next((need for need in grant.capabilities if isinstance(need, Network)), None)


def way_of(job: Job) -> Way:
    """How this job's own clients leave; what nobody settled is read."""
    return way_out(job.grant.capabilities, egress=job.egress) or "inspected"


def ports_of(network: Network) -> tuple[int, ...]:
    """The ports on which a jail has to listen for its own tool."""
    ports = {port for host in network.hosts for port in host.ports}
    return tuple(sorted(ports | (DEFAULT_PORTS if network.cidrs else frozenset())))


def require_warrant(job: Job) -> None:
    """Write egress opens only for a call that somebody answers for."""
    warrant = job.warrant
    if warrant is None or warrant.invocation_id != job.invocation_id:
        raise CallRefused("a call without its own warrant gets no way out", code="approval_void")
    if job.egress is Egress.WRITE and warrant.basis == "allowed":
        raise CallRefused("egress `write` needs an approval on record, and there is none", code="approval_void")
