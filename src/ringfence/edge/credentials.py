"""Puts the value of a secret where its placeholder stands: in one header, for its hosts, under TLS, and nowhere else.

Takes: a request with placeholders, of `ctx.http` or of a tool's own client.  Gives: its headers as they go on the wire.
Never: swaps a placeholder in a body, a target, another header, for another host or on a plain connection: it refuses.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import replace

from ringfence.contract.hosts import allows
from ringfence.edge.http_head import Head
from ringfence.edge.request import Request
from ringfence.edge.resolve import Closed
from ringfence.edge.terms import Destination
from ringfence.execution.placing import Placement, Placements
from ringfence.sanitise.known import LONGEST

_SENDABLE = re.compile(r"[\x20-\x7e]+")
# An answer that is compressed, or that comes in parts of the asker's choice, could not be searched for what it echoes.
_HIDES_THE_ANSWER = frozenset({"accept-encoding", "range", "if-range"})


def placed(request: Request, *, placements: Placements | None, leads_to: Destination) -> Request:
    """A request of `ctx.http` with its values in place, or `Closed`."""
    if placements is None:
        return request
    _require_none(placements, [("the target", request.target), ("the body", request.body)], where=str(leads_to))
    fields = _placed_lines(request.fields, placements=placements, leads_to=leads_to, scheme=request.scheme)
    return replace(request, fields=tuple(fields))


def placed_lines(head: Head, *, placements: Placements, leads_to: Destination, scheme: str) -> list[tuple[str, str]]:
    """The headers of a request of the tool's own client, with the values in place, or `Closed`."""
    start, _, _ = head.raw.partition(b"\r\n")
    _require_none(placements, [("the target", start), ("the target", head.target)], where=str(leads_to))
    return _placed_lines(head.lines, placements=placements, leads_to=leads_to, scheme=scheme)


def _placed_lines(
    lines: Iterable[tuple[str, str]], *, placements: Placements, leads_to: Destination, scheme: str
) -> list[tuple[str, str]]:
    own = [each for each in placements.each if _is_bound(each, leads_to=leads_to, scheme=scheme)]
    where = str(leads_to)
    kept = [(name, value) for name, value in lines if name.lower() not in _HIDES_THE_ANSWER]
    return [(name, _filled(name, value, own, placements, where=where)) for name, value in kept]


def _is_bound(placement: Placement, *, leads_to: Destination, scheme: str) -> bool:
    return scheme == "https" and allows(placement.hosts, leads_to.host, leads_to.port)


def _filled(name: str, value: str, own: Iterable[Placement], placements: Placements, *, where: str) -> str:
    """One header with its own placeholders swapped; any other that is still in it is refused."""
    mine = [each for each in own if each.header == name.lower()]
    said = _basic(value)
    filled = bare = value if said is None else said
    for each in mine:
        bare = bare.replace(each.placeholder, "")
        if each.placeholder in filled:
            _require_sendable(each)
            filled = filled.replace(each.placeholder, each.value.revealed())
    parts = [(f"the name of the header `{name[:40]}`", name), (f"the header `{name[:40]}`", bare)]
    _require_none(placements, parts, where=where)
    return filled if said is None else "Basic " + base64.b64encode(filled.encode()).decode()


def _basic(value: str) -> str | None:
    """What a `Basic` header says, user and password; nothing for any other."""
    scheme, _, coded = value.partition(" ")
    try:
        return base64.b64decode(coded, validate=True).decode() if scheme.lower() == "basic" else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _require_sendable(placement: Placement) -> None:
    if not _SENDABLE.fullmatch(placement.value.revealed()):
        raise Closed(f"the value of `{placement.name}` does not fit into a header", code="secret_misplaced")


def _require_none(placements: Placements, parts: Iterable[tuple[str, str | bytes]], *, where: str) -> None:
    for what, text in parts:
        if placements.marks.names_in(text):
            raise Closed(f"the placeholder of a secret is in {what} of a request to {where}", code="secret_misplaced")


def require_unplaced(head: Head, *, placements: Placements | None, where: str) -> None:
    """A request on a connection where nothing is swapped carries no placeholder."""
    if placements is not None:
        _require_none(placements, [("the head", head.raw), ("the target", head.target)], where=where)


class Watched:
    """A body that goes on piece by piece, and stops where a placeholder shows."""

    def __init__(self, placements: Placements | None, *, where: str) -> None:
        self._placements = placements
        self._where = where
        self._last = b""

    def check(self, piece: bytes) -> None:
        """Refuse a placeholder that is in this piece or ends in it."""
        if self._placements is not None:
            self._last = self._searched(piece)[-LONGEST:]

    def feed(self, piece: bytes) -> bytes:
        """What can go on now: the end is held back, so that not even a part of a placeholder leaves."""
        seen = self._searched(piece)
        cut = max(len(seen) - LONGEST, 0)
        self._last = seen[cut:]
        return seen[:cut]

    def end(self) -> bytes:
        """What is left, when nothing more comes."""
        left, self._last = self._last, b""
        return left

    def _searched(self, piece: bytes) -> bytes:
        seen = self._last + piece
        if self._placements is not None:
            _require_none(self._placements, [("the body", seen)], where=self._where)
        return seen


def require_no_value(request: Request, *, placements: Placements | None) -> None:
    """A redirect that holds a value would carry it to wherever it leads."""
    if placements is not None and placements.known.names_in(request.url):
        raise Closed("a redirect has the value of a secret in its address", code="secret_misplaced")
