"""The descriptors by which one call leaves its jail, and the edge that takes them.

Takes: descriptors that a spare handed out.  Gives: ways that were seen to be what they should be, and passages.
Never: takes one that leads into another network than the spare's own, or into one that another call has had.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ringfence.contract.safety import Egress
from ringfence.errors import CallRefused
from ringfence.execution.edge import ROOTS_FILE, Edge, Passage, Trust, Ways, WaysOut, network_of, ports_of
from ringfence.execution.sandbox import Job
from ringfence.inside.layout import Layout, Mount, Rule, TextFile
from ringfence.inside.mediation import EDGE_PORT
from ringfence.inside.ways import RESOLVER_ADDRESS, RESOLVER_PORT
from ringfence.kernel import landlock
from ringfence.policy.grant import Grant, Way, way_out
from ringfence.sandbox.exposed import Exposed
from ringfence.sandbox.posture import Sighting

_SO_NETNS_COOKIE = 71
_SIOCGSKNS = 0x894C
_COOKIE = struct.Struct("=Q")

# Where programs look for the certificates that they trust, and which do.
TRUST_VARIABLES = {
    "SSL_CERT_FILE": "OpenSSL, so Python's ssl, urllib, aiohttp; httpx",
    "REQUESTS_CA_BUNDLE": "requests",
    "CURL_CA_BUNDLE": "curl; requests too",
    "GIT_SSL_CAINFO": "git",
    "NODE_EXTRA_CA_CERTS": "Node.js",
}


@dataclass(frozen=True, kw_only=True)
class Outlet:
    """How the calls of one job get out."""

    edge: Edge
    job: Job
    way: Way

    def trust(self) -> Trust:
        return self.edge.trust(self.job.grant, way=self.way)

    def open(self, ways: WaysOut, *, trust: Trust) -> Passage:
        return self.edge.open(self.job, trust=trust, ways=ways)


class Outward:
    """The ways of one spare, until its call takes them or it ends without one."""

    def __init__(self, ways: WaysOut | None) -> None:
        self._ways = ways

    @classmethod
    def of(cls, descriptors: Sequence[int]) -> Outward:
        """The ways among these descriptors, listeners first."""
        return cls(Ways(listeners=tuple(descriptors[:-1]), resolver=descriptors[-1]) if descriptors else None)

    def take(self) -> WaysOut | None:
        taken, self._ways = self._ways, None
        return taken

    def close(self) -> None:
        ways = self.take()
        close_all(() if ways is None else ways.descriptors)


def close_all(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def ports_for(grant: Grant) -> tuple[int, ...]:
    """The ports at which a jail listens: those of its hosts, and the edge's own."""
    network = network_of(grant)
    return () if network is None else tuple(sorted({*ports_of(network), EDGE_PORT}))


def leads_to(grant: Grant, *, egress: Egress) -> tuple[str, ...]:
    """The way out and its ends, so that no two grants share a jail whose authority is for one of them."""
    network = network_of(grant)
    if network is None:
        return ()
    way = way_out(grant.capabilities, egress=egress) or "inspected"
    return (way, *map(str, network.hosts), *map(str, network.cidrs))


def trust_environment(grant: Grant, *, egress: Egress) -> dict[str, str]:
    """Variables for a jail whose trust is its own."""
    if network_of(grant) is None:
        return {}
    if way_out(grant.capabilities, egress=egress) != "opaque":
        return dict.fromkeys(TRUST_VARIABLES, ROOTS_FILE)
    # Unread, a tool checks its far side itself: against what this host was told to trust, else the usual roots.
    stated = os.environ.get("SSL_CERT_FILE")
    return dict.fromkeys(TRUST_VARIABLES, os.path.realpath(stated)) if stated else {}


def mounts_for_roots(environment: Mapping[str, str], *, mounts: Sequence[Mount]) -> tuple[Mount, ...]:
    """The file of certificates that the environment names, where nothing that is mounted holds it already."""
    named = environment.get("SSL_CERT_FILE")
    if named is None or named == ROOTS_FILE or not os.path.isfile(named):
        return ()
    held = any(named == mount.path or named.startswith(mount.path + "/") for mount in mounts)
    return () if held else (Mount(path=named, kind="file"),)


def with_roots(layout: Layout, trust: Trust, *, exposed: Exposed) -> Layout:
    """The layout with the certificate that this jail alone trusts, where TLS is read."""
    if ("SSL_CERT_FILE", ROOTS_FILE) not in layout.environment:
        return layout
    if layout.posture == "full":
        return replace(layout, files=(*layout.files, TextFile(path=ROOTS_FILE, text=trust.roots)))
    place = str(exposed.text(trust.roots, kept_with=trust))
    environment = tuple((name, place if value == ROOTS_FILE else value) for name, value in layout.environment)
    rules = (*layout.rules, Rule(path=place, rights=landlock.READ))
    return replace(layout, environment=environment, rules=rules)


class Networks:
    """The networks that calls of one jail have had; none serves a second."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.ports = tuple(ports)
        self._had: set[int] = set()

    @property
    def most(self) -> int:
        """How many descriptors a spare hands out."""
        return len(self.ports) + 1 if self.ports else 0

    def admit(self, descriptors: Sequence[int], *, seen: Sighting) -> Outward:
        """The ways of one spare, checked; `CallRefused` where they are not its own."""
        try:
            problem = self._problem(descriptors, seen=seen)
            if problem is not None:
                raise CallRefused(f"the ways out of a spare are not its own: {problem}", code="posture_insufficient")
        except BaseException:
            close_all(descriptors)
            raise
        return Outward.of(descriptors)

    def _problem(self, descriptors: Sequence[int], *, seen: Sighting) -> str | None:
        if len(descriptors) != self.most:
            return f"{len(descriptors)} of them"
        if not descriptors:
            return None
        cookies = {_cookie(descriptor) for descriptor in descriptors}
        if len(cookies) != 1 or cookies <= self._had or cookies == {_own_cookie()}:
            return "another network than a fresh one"
        self._had |= cookies
        wrong = [port for port, listener in zip(self.ports, descriptors, strict=False) if not _listens(listener, port)]
        if wrong or not _resolves(descriptors[-1]):
            return f"no listener at {wrong}"
        if seen.namespaces and any(_network(each) != seen.namespaces["net"] for each in descriptors):
            return "another network than the process's"
        return None


def _borrowed(descriptor: int) -> socket.socket:
    return socket.socket(fileno=os.dup(descriptor))


def _cookie(descriptor: int) -> int:
    with _borrowed(descriptor) as each:
        return int(_COOKIE.unpack(each.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, _COOKIE.size))[0])


def _own_cookie() -> int:
    with socket.socket() as own:
        return _cookie(own.fileno())


def _listens(descriptor: int, port: int) -> bool:
    with _borrowed(descriptor) as each:
        listening = each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        kind = (each.family in (socket.AF_INET, socket.AF_INET6), each.type, each.getsockname()[1])
        return bool(listening) and kind == (True, socket.SOCK_STREAM, port)


def _resolves(descriptor: int) -> bool:
    with _borrowed(descriptor) as each:
        return (each.family, each.type) == (socket.AF_INET, socket.SOCK_DGRAM) and each.getsockname() == (
            RESOLVER_ADDRESS,
            RESOLVER_PORT,
        )


def _network(descriptor: int) -> str:
    found = fcntl.ioctl(descriptor, _SIOCGSKNS)
    try:
        return f"net:[{os.fstat(found).st_ino}]"
    finally:
        os.close(found)
