"""The one place that says which hosts a list of patterns allows.

Takes: patterns as people write them (`api.example.com`, `*.example.com`, `db.example.com:5432`) and the host and port
that a client asked for.  Gives: `parse`, `allows`, and `covers` and `intersect` for grants.  Never: resolves a name,
judges an address (private and metadata ranges are the edge's floor), or lets a host through that it cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Literal

from ringfence.errors import CallRefused, DeclarationRefused

DEFAULT_PORTS = frozenset({80, 443})

_PORT = re.compile(r"[1-9][0-9]{0,4}")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LONGEST_NAME = 253
# Longer than any host in any script; text beyond it is not worth the normaliser's time.
_LONGEST_TEXT = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class HostPattern:
    """A parsed pattern: a host, or all sub-domains of one, at some ports. Made by `parse` and `intersect` only."""

    host: str
    reach: Literal["exact", "subdomains"]
    ports: frozenset[int]

    def __str__(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        ports = "" if self.ports == DEFAULT_PORTS else f":{min(self.ports)}"
        return f"*.{name}{ports}" if self.reach == "subdomains" else f"{name}{ports}"


class _Unreadable(ValueError):
    """Why a text is no host; the public functions turn it into an error of their own audience."""


@lru_cache(maxsize=4096)
def parse(pattern: str) -> HostPattern:
    """Read one pattern, or raise `DeclarationRefused` with the reason."""
    try:
        name, ports = _split_port(pattern)
        if name.startswith("*."):
            return HostPattern(host=_wildcard_base(name[2:]), reach="subdomains", ports=ports)
        return HostPattern(host=_pattern_host(name), reach="exact", ports=ports)
    except _Unreadable as reason:
        raise DeclarationRefused(
            f"host pattern `{_shown(pattern)}`: {reason}",
            remedy="write `host`, `*.domain` or `host:port`, without scheme or path",
        ) from None


@lru_cache(maxsize=4096)
def normalise_host(text: str) -> str:
    """The one spelling of a host that a client asked for (IPv6 without brackets), or `CallRefused`."""
    try:
        return _address_v6(text) if ":" in text else _normal(text)
    except _Unreadable as reason:
        raise CallRefused(f"host `{_shown(text)}`: {reason}", code="host_not_allowed") from None


def allows(patterns: Iterable[str | HostPattern], host: str, port: int) -> bool:
    """Whether one of the patterns allows host and port; a malformed pattern raises, a malformed host is refused."""
    listed = [parse(pattern) if isinstance(pattern, str) else pattern for pattern in patterns]
    try:
        asked = normalise_host(host)
    except CallRefused:
        return False
    return any(port in pattern.ports and _reaches(pattern, host=asked) for pattern in listed)


def covers(outer: HostPattern, inner: HostPattern) -> bool:
    """Whether everything that the inner pattern allows is allowed by the outer one."""
    return inner.ports <= outer.ports and _spans(outer, inner=inner)


def intersect(a: HostPattern, b: HostPattern) -> HostPattern | None:
    """The pattern for what both allow, or None; two patterns overlap only where one host part spans the other."""
    ports = a.ports & b.ports
    narrower = b if _spans(a, inner=b) else a if _spans(b, inner=a) else None
    if narrower is None or not ports:
        return None
    return HostPattern(host=narrower.host, reach=narrower.reach, ports=ports)


def _reaches(pattern: HostPattern, *, host: str) -> bool:
    if pattern.reach == "exact":
        return host == pattern.host
    return host.endswith("." + pattern.host)


def _spans(outer: HostPattern, *, inner: HostPattern) -> bool:
    if outer.host == inner.host:
        return outer.reach == inner.reach
    return outer.reach == "subdomains" and inner.host.endswith("." + outer.host)


def _split_port(pattern: str) -> tuple[str, frozenset[int]]:
    name, colon, port = pattern.rpartition(":")
    if not colon or port.endswith("]"):
        return pattern, DEFAULT_PORTS
    if not _PORT.fullmatch(port) or int(port) > 65535:
        raise _Unreadable("the port is not a number from 1 to 65535")
    return name, frozenset({int(port)})


def _pattern_host(name: str) -> str:
    if name.startswith("[") and name.endswith("]"):
        host = _address_v6(name)
        if ":" not in host:
            raise _Unreadable(f"an IPv4 address in IPv6 spelling; write `{host}`")
        return host
    if "*" in name:
        raise _Unreadable("`*` stands only for the leftmost label, in front of a domain")
    return _normal(name)


def _wildcard_base(name: str) -> str:
    base = _pattern_host(name)
    if ":" in base or base.replace(".", "").isdigit():
        raise _Unreadable("an address has no sub-domains")
    if _is_public_suffix(base):
        raise _Unreadable(f"anyone can register a name under `{base}`")
    return base


def _normal(text: str) -> str:
    """Lower case, IDNA in its ASCII form, no trailing dot; an IPv4 address only as four plain decimal numbers."""
    if len(text) > _LONGEST_TEXT:
        raise _Unreadable("too long")
    if not text.isprintable() or " " in text:
        raise _Unreadable("white space or control characters")
    mapped = text.lower() if text.isascii() else _mapped(text)
    labels = [_ascii_label(label) for label in mapped.removesuffix(".").split(".")]
    host = ".".join(labels)
    if len(host) > _LONGEST_NAME:
        raise _Unreadable("too long")
    # URL parsers read any name that ends in a number as an IPv4 address, in whatever base and however short.
    return _address_v4(host) if _NUMERIC.fullmatch(labels[-1]) else host


def _mapped(text: str) -> str:
    # In the function: 15 ms of start-up that only names outside ASCII need.
    import idna  # noqa: PLC0415

    try:
        return idna.uts46_remap(text, std3_rules=False, transitional=False)
    except idna.IDNAError:
        raise _Unreadable("characters that no host name has") from None


def _ascii_label(label: str) -> str:
    encoded = label if label.isascii() and not label.startswith("xn--") else _idna_label(label)
    if not _LABEL.fullmatch(encoded):
        raise _Unreadable("not a host name" if encoded else "an empty label")
    return encoded


def _idna_label(label: str) -> str:
    import idna  # noqa: PLC0415

    try:
        return idna.alabel(idna.ulabel(label)).decode("ascii")
    except UnicodeError:
        raise _Unreadable("not a valid international name") from None


def _address_v4(host: str) -> str:
    try:
        return str(IPv4Address(host))
    except AddressValueError:
        raise _Unreadable("an IPv4 address is written as four decimal numbers") from None


def _address_v6(text: str) -> str:
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if "%" in bare:
        raise _Unreadable("an address with a zone")
    try:
        address = IPv6Address(bare)
    except AddressValueError:
        raise _Unreadable("neither a host name nor an IPv6 address") from None
    return str(address.ipv4_mapped or address)


def _is_public_suffix(domain: str) -> bool:
    """Whether strangers register names directly under the domain, or directly under all of its sub-domains."""
    name = _unicode(domain)
    _, dot, parent = name.partition(".")
    if not dot:
        return True
    if _has_rule(f"!{name}"):
        return False
    return _has_rule(name) or _has_rule(f"*.{name}") or _has_rule(f"*.{parent}")


def _unicode(domain: str) -> str:
    if "xn--" not in domain:
        return domain
    import idna  # noqa: PLC0415

    return ".".join(idna.ulabel(label) if label.startswith("xn--") else label for label in domain.split("."))


def _has_rule(rule: str) -> bool:
    return f"\n{rule}\n" in _public_suffix_rules()


@lru_cache(maxsize=1)
def _public_suffix_rules() -> str:
    # In the function, and searched as text: building the library's index takes 40 ms, and each jail would pay for it.
    from publicsuffixlist import PSLFILE  # noqa: PLC0415

    with open(PSLFILE, encoding="utf-8") as rules:
        return "\n" + rules.read()


def _shown(text: str) -> str:
    return ascii(text[:80])[1:-1]
