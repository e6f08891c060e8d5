"""The five things a tool can need, and nothing else.

Takes: what an author declares or an operator permits; both sides speak in these same values.
Gives: `covers` (does this permit all of that?) and `intersect` (what is left when both must agree?).
Never: reaches any of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, ClassVar, Literal, TypeAlias, cast

from ringfence.contract import hosts as host_patterns
from ringfence.contract.hosts import HostPattern
from ringfence.contract.interpreters import interpreter
from ringfence.contract.paths import beneath, relative_path
from ringfence.errors import DeclarationRefused

Kind: TypeAlias = Literal["network", "secrets", "storage", "files", "processes"]
KINDS: tuple[Kind, ...] = ("network", "secrets", "storage", "files", "processes")


class FromAgent(Enum):
    """The author leaves the paths, hosts or binaries to the agent that calls."""

    FROM_AGENT = "from_agent"

    def __repr__(self) -> str:
        return "FROM_AGENT"


FROM_AGENT = FromAgent.FROM_AGENT
Paths: TypeAlias = tuple[str, ...] | Literal[FromAgent.FROM_AGENT]
Cidr: TypeAlias = IPv4Network | IPv6Network
ListedBy: TypeAlias = Literal["author", "agent"]


@dataclass(frozen=True, init=False)
class Network:
    """Connections to listed hosts, and nowhere else; `private` is an operator's side alone.

    With `FROM_AGENT` in place of hosts it is whatever the agent itself may reach.
    """

    kind: ClassVar[Kind] = "network"
    hosts: tuple[HostPattern, ...]
    cidrs: tuple[Cidr, ...]
    private: tuple[HostPattern, ...]
    listed_by: ListedBy

    def __init__(self, *hosts: str | HostPattern | FromAgent, cidrs: tuple[str | Cidr, ...] | list[str] = ()) -> None:
        listed_by = _listed_by(hosts, what="hosts")
        if listed_by == "agent" and cidrs:
            raise DeclarationRefused("a `Network` need takes either hosts from the agent or networks of its own")
        patterns = tuple(_host(host) for host in hosts if not isinstance(host, FromAgent))
        self._set(hosts=patterns, cidrs=tuple(map(_cidr, cidrs)), private=(), listed_by=listed_by)

    @classmethod
    def permit(
        cls,
        *hosts: str | HostPattern,
        cidrs: tuple[str | Cidr, ...] | list[str] = (),
        private: tuple[str | HostPattern, ...] | list[str] = (),
    ) -> Network:
        """An operator's side: these hosts, and these very addresses and ports although they are private ones."""
        permitted = cls(*hosts, cidrs=cidrs)
        object.__setattr__(permitted, "private", tuple(map(_address_and_port, private)))
        return permitted

    def _set(
        self,
        *,
        hosts: tuple[HostPattern, ...],
        cidrs: tuple[Cidr, ...],
        private: tuple[HostPattern, ...],
        listed_by: ListedBy,
    ) -> None:
        for key, value in (("hosts", hosts), ("cidrs", cidrs), ("private", private), ("listed_by", listed_by)):
            object.__setattr__(self, key, value)

    @property
    def is_empty(self) -> bool:
        return self.listed_by == "author" and not self.hosts and not self.cidrs

    def covers(self, other: Network) -> bool:
        if other.listed_by == "agent":
            return not self.is_empty
        return all(any(host_patterns.covers(mine, host) for mine in self.hosts) for host in other.hosts) and all(
            any(_within(cidr, mine) for mine in self.cidrs) for cidr in other.cidrs
        )

    def intersect(self, other: Network) -> Network:
        """What a declared need (self) keeps of a permit; private addresses are the permit's to give."""
        if self.listed_by == "agent":
            return other
        pairs = [host_patterns.intersect(mine, theirs) for mine in self.hosts for theirs in other.hosts]
        nets = [_narrower(mine, theirs) for mine in self.cidrs for theirs in other.cidrs]
        return Network.permit(
            *dict.fromkeys(host for host in pairs if host is not None),
            cidrs=tuple(dict.fromkeys(net for net in nets if net is not None)),
            private=other.private,
        )

    def narrowed_by(self, binding: Network) -> Network:
        """An agent's permit where a binding must agree too, on private addresses as on all else."""
        left = self.intersect(binding)
        both = tuple(address for address in self.private if address in binding.private)
        return Network.permit(*left.hosts, cidrs=left.cidrs, private=both)

    def document(self) -> dict[str, Any]:
        hosts = FROM_AGENT.value if self.listed_by == "agent" else [str(h) for h in self.hosts]
        listed = {"kind": self.kind, "hosts": hosts, "cidrs": [str(c) for c in self.cidrs]}
        return {**listed, "private": [str(a) for a in self.private]} if self.private else listed


@dataclass(frozen=True, init=False)
class Secrets:
    """Named secrets, each placed by the edge in one slot, for its hosts alone."""

    kind: ClassVar[Kind] = "secrets"
    names: tuple[str, ...]
    hosts: tuple[HostPattern, ...] | None
    at: str
    reveal: bool

    def __init__(
        self,
        *names: str,
        hosts: tuple[str | HostPattern, ...] | list[str],
        at: str = "header:Authorization",
        reveal: bool = False,
    ) -> None:
        if not hosts and not reveal:
            raise DeclarationRefused(
                "a `Secrets` need names the hosts that may receive the secret, and this one names none"
            )
        self._set(names=tuple(map(_secret_name, names)), hosts=tuple(map(_host, hosts)), at=_slot(at), reveal=reveal)

    @classmethod
    def permit(cls, *names: str) -> Secrets:
        """An operator's side: these names, with whatever hosts the tool declares."""
        permitted = object.__new__(cls)
        permitted._set(names=tuple(map(_secret_name, names)), hosts=None, at="*", reveal=True)
        return permitted

    def _set(self, *, names: tuple[str, ...], hosts: tuple[HostPattern, ...] | None, at: str, reveal: bool) -> None:
        for key, value in (("names", names), ("hosts", hosts), ("at", at), ("reveal", reveal)):
            object.__setattr__(self, key, value)

    @property
    def is_empty(self) -> bool:
        return not self.names

    def covers(self, other: Secrets) -> bool:
        return set(other.names) <= set(self.names)

    def intersect(self, other: Secrets) -> Secrets:
        """The declared need (self) less every name the other side does not permit."""
        left = object.__new__(Secrets)
        names = tuple(name for name in self.names if name in other.names)
        left._set(names=names, hosts=self.hosts, at=self.at, reveal=self.reveal)
        return left

    def document(self) -> dict[str, Any]:
        hosts = [str(h) for h in self.hosts or ()]
        return {"kind": self.kind, "names": list(self.names), "hosts": hosts, "at": self.at, "reveal": self.reveal}


@dataclass(frozen=True)
class Storage:
    """Rows of its own: of the tool, of the session, or of the agent."""

    kind: ClassVar[Kind] = "storage"
    scope: Literal["tool", "session", "agent"]

    def __post_init__(self) -> None:
        if self.scope not in ("tool", "session", "agent"):
            raise DeclarationRefused(f"storage scope `{self.scope}` is none of `tool`, `session`, `agent`")

    @property
    def is_empty(self) -> bool:
        return False

    def covers(self, other: Storage) -> bool:
        return self.scope == other.scope

    def intersect(self, other: Storage) -> Storage | None:
        return self if self.scope == other.scope else None

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "scope": self.scope}


@dataclass(frozen=True, init=False)
class Files:
    """Paths under the agent's workspace, or whatever the agent itself may read or write."""

    kind: ClassVar[Kind] = "files"
    read: Paths
    write: Paths

    def __init__(self, read: Paths | list[str] = (), write: Paths | list[str] = ()) -> None:
        object.__setattr__(self, "read", _paths(read))
        object.__setattr__(self, "write", _paths(write))

    @property
    def is_empty(self) -> bool:
        return not self.read and not self.write

    def covers(self, other: Files) -> bool:
        return _paths_cover(self.read, other.read) and _paths_cover(self.write, other.write)

    def intersect(self, other: Files) -> Files:
        return Files(read=_paths_both(self.read, other.read), write=_paths_both(self.write, other.write))

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "read": _spell(self.read), "write": _spell(self.write)}


@dataclass(frozen=True, init=False)
class Processes:
    """Listed binaries, or whatever the agent itself lists, as child processes inside the same jail."""

    kind: ClassVar[Kind] = "processes"
    binaries: tuple[str, ...]
    listed_by: ListedBy

    def __init__(self, *binaries: str | FromAgent) -> None:
        named = tuple(_binary(each) for each in binaries if not isinstance(each, FromAgent))
        object.__setattr__(self, "listed_by", _listed_by(binaries, what="binaries"))
        object.__setattr__(self, "binaries", named)

    @property
    def is_empty(self) -> bool:
        return self.listed_by == "author" and not self.binaries

    def covers(self, other: Processes) -> bool:
        if other.listed_by == "agent":
            return not self.is_empty
        return set(other.binaries) <= set(self.binaries)

    def intersect(self, other: Processes) -> Processes:
        if self.listed_by == "agent":
            return other
        return Processes(*(binary for binary in self.binaries if binary in other.binaries))

    def interpreters(self) -> tuple[tuple[str, str], ...]:
        """The binaries that run whatever they are told to, each with the reason."""
        found = ((binary, interpreter(binary)) for binary in self.binaries)
        return tuple((binary, reason) for binary, reason in found if reason is not None)

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "binaries": FROM_AGENT.value if self.listed_by == "agent" else list(self.binaries)}


Capability: TypeAlias = Network | Secrets | Storage | Files | Processes


def _listed_by(listed: Sequence[object], *, what: str) -> ListedBy:
    """Whose list it is."""
    if FROM_AGENT not in listed:
        return "author"
    if len(listed) > 1:
        raise DeclarationRefused(f"`FROM_AGENT` stands alone: the {what} are the agent's, or those that are named")
    return "agent"


def _host(pattern: str | HostPattern) -> HostPattern:
    return pattern if isinstance(pattern, HostPattern) else host_patterns.parse(pattern)


def _address_and_port(pattern: str | HostPattern) -> HostPattern:
    """One exact address and one port; a name or a range would open more than the operator has seen."""
    parsed = _host(pattern)
    if len(parsed.ports) != 1 or parsed.reach != "exact" or not _is_address(parsed.host):
        raise DeclarationRefused(
            f"`{pattern}` is not one address and one port", remedy="write it like `10.0.0.5:5432` or `[fd00::5]:5432`"
        )
    return parsed


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _cidr(text: str | Cidr) -> Cidr:
    try:
        return ip_network(text)
    except ValueError as error:
        raise DeclarationRefused(
            f"`{text}` is not a network in CIDR form", remedy="write it like `203.0.113.0/24`"
        ) from error


def _within(inner: Cidr, outer: Cidr) -> bool:
    if isinstance(inner, IPv4Network):
        return isinstance(outer, IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, IPv6Network) and inner.subnet_of(outer)


def _narrower(one: Cidr, other: Cidr) -> Cidr | None:
    if _within(one, other):
        return one
    return other if _within(other, one) else None


_SECRET_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,127}")
_SLOT = re.compile(r"header:[A-Za-z][A-Za-z0-9-]{0,63}")
_BINARY = re.compile(r"(/[^/\0]+)+|[^/\0\s]+")


def _secret_name(name: str) -> str:
    if not _SECRET_NAME.fullmatch(name):
        raise DeclarationRefused(
            "a secret's name is upper case letters, digits and underscores", remedy="name it like `SENDGRID_KEY`"
        )
    return name


def _slot(at: str) -> str:
    if not _SLOT.fullmatch(at):
        raise DeclarationRefused(
            f"`at={at!r}` is not a slot that the edge can fill", remedy="name one header, like `header:Authorization`"
        )
    return at


def _binary(name: str) -> str:
    if not _BINARY.fullmatch(name):
        raise DeclarationRefused(f"`{name}` names no binary", remedy="give a name like `git` or an absolute path")
    return name


def _paths(paths: Paths | list[str]) -> Paths:
    if isinstance(paths, FromAgent):
        return paths
    if isinstance(cast("object", paths), str):
        raise DeclarationRefused(f"`{paths}` is one path where a list of paths is meant", remedy=f"write `[{paths!r}]`")
    return tuple(relative_path(path) for path in paths)


def _paths_cover(mine: Paths, theirs: Paths) -> bool:
    if isinstance(mine, FromAgent) or isinstance(theirs, FromAgent):
        return True  # the agent's own paths are by definition within the agent's paths
    return all(any(beneath(path, root=root) for root in mine) for path in theirs)


def _paths_both(mine: Paths, theirs: Paths) -> Paths:
    if isinstance(mine, FromAgent):
        return theirs
    if isinstance(theirs, FromAgent):
        return mine
    inner = [
        one if beneath(one, root=other) else other if beneath(other, root=one) else None
        for one in mine
        for other in theirs
    ]
    return tuple(dict.fromkeys(path for path in inner if path is not None))


def _spell(paths: Paths) -> list[str] | str:
    return paths.value if isinstance(paths, FromAgent) else list(paths)
