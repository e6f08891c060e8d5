"""Puts the value of a secret where its placeholder stands: in one header, for its hosts, under TLS, and nowhere else.

Takes: a request with placeholders.  Gives: the request as it goes on the wire; and answers without the values.
Never: swaps a placeholder in a body, a target, another header, for another host or on a plain connection: it refuses.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import replace

import h11

from ringfence.contract.hosts import allows
from ringfence.edge.http_head import Head
from ringfence.edge.request import Request
from ringfence.edge.resolve import Closed
from ringfence.edge.terms import Destination
from ringfence.execution.placing import Placement, Placements
from ringfence.sanitise.known import LONGEST

_SENDABLE = re.compile(r"[\x20-\x7e]+")
_PLAIN = frozenset({b"identity", b""})


def placed(request: Request, *, placements: Placements | None, leads_to: Destination) -> Request:
    """The request with its values in place, or `Closed`."""
    if placements is None:
        return request
    where = str(leads_to)
    _require_none(placements, [("the target", request.target), ("the body", request.body)], where=where)
    own = [each for each in placements.each if _is_bound(each, request=request)]
    fields = [(name, _filled(name, value, own, placements, where=where)) for name, value in request.fields]
    # An answer that is compressed could not be searched for what it echoes.
    fields = [field for field in fields if field[0].lower() != "accept-encoding"]
    return replace(request, fields=tuple(fields))


def _is_bound(placement: Placement, *, request: Request) -> bool:
    return request.scheme == "https" and allows(placement.hosts, request.host, request.port)


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
    """A request of the tool's own client carries no placeholder: nothing is swapped there."""
    if placements is not None:
        _require_none(placements, [("the head", head.raw), ("the target", head.target)], where=where)


class Watched:
    """A body that goes on piece by piece, and stops where a placeholder shows."""

    def __init__(self, placements: Placements | None, *, where: str) -> None:
        self._placements = placements
        self._where = where
        self._last = b""

    def check(self, piece: bytes) -> None:
        if self._placements is not None:
            seen = self._last + piece
            _require_none(self._placements, [("the body", seen)], where=self._where)
            self._last = seen[-LONGEST:]


def require_no_value(request: Request, *, placements: Placements | None) -> None:
    """A redirect that holds a value would carry it to wherever it leads."""
    if placements is not None and placements.known.names_in(request.target):
        raise Closed("a redirect has the value of a secret in its address", code="secret_misplaced")


def require_searchable(response: h11.Response, *, placements: Placements | None) -> None:
    """An answer that cannot be searched does not enter a jail that used a secret."""
    codings = {value.strip().lower() for name, value in response.headers if name == b"content-encoding"}
    if placements is not None and codings - _PLAIN:
        raise Closed("the answer is compressed, and cannot be searched for what it echoes", code="secret_misplaced")
