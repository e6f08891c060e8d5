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
from ringfence.execution.edge import ROOTS_FILE, Edge, Hearing, Passage, Trust, Ways, WaysOut, network_of, ports_of
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
    def of(cls, descriptors: Sequence[int], *, hearing: Hearing | None = None) -> Outward:
        """The ways among these descriptors, listeners first."""
        if not descriptors:
            return cls(None)
        return cls(Ways(listeners=tuple(descriptors[:-1]), resolver=descriptors[-1], hearing=hearing))

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

    def __init__(self, ports: Sequence[int], *, hearing: Hearing | None = None) -> None:
        self._hearing = hearing
        self.ports = tuple(ports)
        # The host's own is none that a call may have.
        self._had = {_own_cookie()} if self.ports else set[int]()

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
        return Outward.of(descriptors, hearing=self._hearing)

    def _problem(self, descriptors: Sequence[int], *, seen: Sighting) -> str | None:
        if len(descriptors) != self.most:
            return f"{len(descriptors)} of them"
        if not descriptors:
            return None
        borrowed: list[socket.SocketType] = []
        try:
            for descriptor in descriptors:
                borrowed.append(socket.SocketType(fileno=descriptor))
            return self._problem_of(borrowed, seen=seen)
        finally:
            for each in borrowed:
                each.detach()

    def _problem_of(self, ways: Sequence[socket.SocketType], *, seen: Sighting) -> str | None:
        cookies = set(map(_cookie, ways))
        if len(cookies) != 1 or cookies <= self._had:
            return "another network than a fresh one"
        self._had |= cookies
        *listeners, resolver = ways
        wrong = [port for port, each in zip(self.ports, listeners, strict=True) if not _listens(each, port)]
        if wrong or not _resolves(resolver):
            return f"no listener at {wrong}"
        # By now they are all of one network, so one of them tells for all.
        if seen.namespaces and _network(resolver.fileno()) != seen.namespaces["net"]:
            return "another network than the process's"
        return None


def _cookie(way: socket.SocketType) -> int:
    return int(_COOKIE.unpack(way.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, _COOKIE.size))[0])


def _own_cookie() -> int:
    with socket.socket() as own:
        return _cookie(own)


def _listens(way: socket.SocketType, port: int) -> bool:
    # In this order: what has no port has no name either that one could be looked for in.
    if way.family not in (socket.AF_INET, socket.AF_INET6) or way.type != socket.SOCK_STREAM:
        return False
    listening = way.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    return bool(listening) and way.getsockname()[1] == port


def _resolves(way: socket.SocketType) -> bool:
    kind = (way.family, way.type)
    here = (RESOLVER_ADDRESS, RESOLVER_PORT)
    return kind == (socket.AF_INET, socket.SOCK_DGRAM) and way.getsockname() == here


def _network(descriptor: int) -> str:
    found = fcntl.ioctl(descriptor, _SIOCGSKNS)
    try:
        return f"net:[{os.fstat(found).st_ino}]"
    finally:
        os.close(found)
