"""Reads the head of one HTTP/1 request so strictly that no two readers could disagree about it.

Takes: the bytes up to the empty line.  Gives: method, target, host and how long the body is, or `BadHead`.
Never: repairs anything: folded lines, bare line ends, two lengths or two hosts end the connection.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ringfence.contract.hosts import normalise_host
from ringfence.errors import CallRefused

MOST_HEAD = 65_536
END_OF_HEAD = b"\r\n\r\n"
_LINE = re.compile(rb"([A-Z][A-Z-]{0,31}) ([\x21-\x7e]{1,32768}) HTTP/1\.([01])")
_FIELD_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}")
_FIELD_VALUE = re.compile(rb"[\x20-\x7e\x80-\xff\t]*")
_ABSOLUTE = re.compile(rb"(https?)://([^/?#@]+)([/?][\x21-\x7e]*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]@/]+)(?::([0-9]{1,5}))?")
_LENGTH = re.compile(rb"[0-9]{1,15}")
START = re.compile(rb"[A-Z][A-Z-]{0,31} ")

Body: TypeAlias = int | Literal["chunked"]
Scheme: TypeAlias = Literal["http", "https"]
Version: TypeAlias = Literal["1.0", "1.1"]
_USUAL_PORTS = {"http": 80, "https": 443}


class BadHead(Exception):
    """Why a request does not go on."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """One request, as far as a gate has to know it; `lines` are its headers as they were written."""

    method: str
    target: str
    version: Version
    lines: tuple[tuple[str, str], ...]
    fields: tuple[tuple[bytes, bytes], ...]
    authority: str
    body: Body
    raw: bytes

    def values(self, name: bytes) -> list[bytes]:
        return [value for found, value in self.fields if found == name]

    @property
    def ends_connection(self) -> bool:
        """Whether nothing more is asked after it."""
        return self.version == "1.0" or b"close" in b",".join(self.values(b"connection")).lower()

    @property
    def wants_upgrade(self) -> bool:
        """Whether it asks to go on in another protocol, which the edge could not read."""
        options = b",".join(self.values(b"connection")).lower()
        return bool(self.values(b"upgrade") or self.values(b"http2-settings")) or b"upgrade" in options

    def host(self, scheme: Scheme) -> tuple[str, int]:
        """The host and port that it is for."""
        found = _AUTHORITY.fullmatch(self.authority)
        if found is None:
            raise BadHead("a Host that is none")
        try:
            host = normalise_host(found[1])
        except CallRefused as refused:
            raise BadHead(refused.message) from None
        return host, int(found[2]) if found[2] else _USUAL_PORTS[scheme]


def read_head(raw: bytes) -> Head:
    """The head whose bytes these are, the empty line included."""
    lines = raw.removesuffix(END_OF_HEAD).split(b"\r\n")
    start = _LINE.fullmatch(lines[0])
    if start is None:
        raise BadHead("not the first line of an HTTP/1 request")
    written = tuple(_field(line) for line in lines[1:])
    fields = tuple((name.lower(), value) for name, value in written)
    hosts = [value for name, value in fields if name == b"host"]
    if len(hosts) != 1:
        raise BadHead("not exactly one Host")
    method = start[1].decode()
    authority = hosts[0].decode("ascii", errors="replace")
    target = _origin_form(start[2], authority=authority, method=method)
    return Head(
        method=method,
        target=target,
        version="1.0" if start[3] == b"0" else "1.1",
        lines=tuple((name.decode(), value.decode("latin-1")) for name, value in written),
        fields=fields,
        authority=authority,
        body=_body(fields, start[3]),
        raw=raw,
    )


def _field(line: bytes) -> tuple[bytes, bytes]:
    name, colon, value = line.partition(b":")
    if not colon or not _FIELD_NAME.fullmatch(name) or not _FIELD_VALUE.fullmatch(value):
        raise BadHead("a malformed or folded header line")
    return name, value.strip(b" \t")


def _origin_form(target: bytes, *, authority: str, method: str) -> str:
    if method == "CONNECT":
        raise BadHead("CONNECT would be a tunnel")
    if target.startswith(b"/") or (target == b"*" and method == "OPTIONS"):
        return target.decode()
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None or absolute[2].decode("ascii", errors="replace").lower() != authority.lower():
        raise BadHead("a target that is not of its Host")
    return (absolute[3] or b"/").decode()


def _body(fields: tuple[tuple[bytes, bytes], ...], minor: bytes) -> Body:
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value for name, value in fields if name == b"transfer-encoding"]
    if len(lengths) > 1 or len(codings) > 1 or (lengths and codings):
        raise BadHead("two lengths for one body")
    if codings:
        if codings[0].lower() != b"chunked" or minor == b"0":
            raise BadHead("a transfer coding other than `chunked`")
        return "chunked"
    if not lengths:
        return 0
    if not _LENGTH.fullmatch(lengths[0]):
        raise BadHead("a length that is no number")
    return int(lengths[0])
