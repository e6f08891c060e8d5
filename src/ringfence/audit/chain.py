"""Each event names the one before it, so that no event can change, vanish or be slipped in unseen.

Takes: events and the head of a writer's chain.  Gives: links.
Never: puts a body into the chain; bodies lie apart under their digest, so that retention can remove them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from ringfence.audit.events import AuditEvent

_VERSION = 1
GENESIS = "0" * 64


@dataclass(frozen=True, kw_only=True)
class Head:
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


def link(event: AuditEvent, *, head: Head) -> Link:
    """The next link of a chain."""
    body = spell(event.body)
    unsealed = Link(
        writer=head.writer,
        seq=head.seq + 1,
        at=event.at.isoformat(timespec="microseconds"),
        kind=event.kind,
        agent=event.agent,
        tool=event.tool,
        safety=event.safety,
        invocation_id=event.invocation_id,
        body_digest=sha256(body),
        previous=head.hash,
        hash="",
        body=body,
    )
    return replace(unsealed, hash=seal(unsealed))


def seal(unsealed: Link) -> str:
    """The hash over everything a link says, the hash before it included."""
    return sha256(
        spell(
            [
                _VERSION,
                unsealed.writer,
                unsealed.seq,
                unsealed.at,
                unsealed.kind,
                unsealed.agent,
                unsealed.tool,
                unsealed.safety,
                unsealed.invocation_id,
                unsealed.body_digest,
                unsealed.previous,
            ]
        )
    )


def head_of(last: Link) -> Head:
    return Head(writer=last.writer, seq=last.seq, hash=last.hash)


_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def spell(value: Any) -> str:
    """One spelling for our own JSON; what is stored is hashed as it is stored, so no canonical form is needed."""
    return _encode(value)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
