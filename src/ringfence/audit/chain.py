"""Each event names the one before it, so that no event can change, vanish or be slipped in unseen.

Takes: events and the head of a writer's chain.  Gives: links.
Never: puts a body into the chain; bodies lie apart under their digest, so that retention can remove them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from pydantic_core import to_json

from ringfence.audit.events import AuditEvent

_VERSION = 1
GENESIS = "0" * 64


class Head(NamedTuple):
    """Where one writer's chain ends."""

    writer: str
    seq: int = 0
    hash: str = GENESIS


@dataclass(frozen=True, kw_only=True)
class Link:
    """One event as it stands in its chain; `body` is kept apart and may be removed by retention."""

    writer: str
    seq: int
    at: str
    kind: str
    agent: str | None
    tool: str | None
    safety: str | None
    invocation_id: str | None
    body_digest: str
    previous: str
    hash: str
    body: str | None


_FIELDS = tuple(field.name for field in fields(Link))


def entry(event: AuditEvent, *, writer: str, seq: int, previous: str) -> tuple[Any, ...]:
    """The next link of a chain, as a row of the fields of `Link` in their order."""
    body = to_json(event.body)
    about = (event.kind, event.agent, event.tool, event.safety, event.invocation_id)
    at, body_digest = event.at.isoformat(timespec="microseconds"), hashlib.sha256(body).hexdigest()
    facts = (at, *about, body_digest, previous)
    return (writer, seq, *facts, _sealed(writer, seq, facts), body.decode())


def link(event: AuditEvent, *, head: Head) -> Link:
    """The next link of a chain."""
    row = entry(event, writer=head.writer, seq=head.seq + 1, previous=head.hash)
    return Link(**dict(zip(_FIELDS, row, strict=True)))


def seal(link: Link) -> str:
    """The hash over everything a link says, the hash before it included."""
    about = (link.kind, link.agent, link.tool, link.safety, link.invocation_id)
    return _sealed(link.writer, link.seq, (link.at, *about, link.body_digest, link.previous))


def _sealed(writer: str, seq: int, facts: tuple[str | None, ...]) -> str:
    return hashlib.sha256(to_json([_VERSION, writer, seq, *facts])).hexdigest()


def head_of(last: Link) -> Head:
    return Head(writer=last.writer, seq=last.seq, hash=last.hash)


def spell(value: Any) -> str:
    """Our own JSON. What is stored is hashed as it is stored, so no canonical form is needed; keys stay as they are."""
    return to_json(value).decode()


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
