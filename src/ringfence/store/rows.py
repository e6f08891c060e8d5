"""How values are spelled in rows, and how rows become values again.

Takes: rows and values.  Gives: the other.  Never: asks the database anything.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from ringfence.approvals.inbox import Approval, ApprovalStatus, Vote
from ringfence.audit.chain import Link, spell
from ringfence.audit.checkpoint import Checkpoint
from ringfence.runtime.invocation import Invocation, Recorded, Status

_CALL_COLUMNS = 16


def stamp(moment: datetime) -> str:
    """A time as text that compares like the time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def invocation_row(invocation: Invocation) -> tuple[Any, ...]:
    return (
        invocation.id,
        invocation.session,
        invocation.agent,
        invocation.binding,
        invocation.user,
        spell(list(invocation.proposers)),
        invocation.tool,
        invocation.fingerprint,
        invocation.source_digest,
        invocation.arguments,
        invocation.arguments_digest,
        invocation.idempotency_key,
        stamp(invocation.proposed_at),
    )


def recorded_from(row: tuple[Any, ...]) -> Recorded:
    """A call from its row, with its request for votes behind it in the same row."""
    *_, status, code, outcome = row[:_CALL_COLUMNS]
    request = row[_CALL_COLUMNS:]
    return Recorded(
        invocation=_invocation_from(row),
        status=Status(status),
        approval=None if request[0] is None else approval_from(request),
        code=code,
        outcome=None if outcome is None else json.loads(outcome),
    )


def _invocation_from(row: tuple[Any, ...]) -> Invocation:
    id_, session, agent, binding, user, proposers, tool, fingerprint, source, arguments, digest, key, at, *_ = row
    return Invocation(
        id=id_,
        session=session,
        agent=agent,
        binding=binding,
        user=user,
        proposers=tuple(json.loads(proposers)),
        tool=tool,
        fingerprint=fingerprint,
        source_digest=source,
        arguments=arguments,
        arguments_digest=digest,
        idempotency_key=key,
        proposed_at=datetime.fromisoformat(at),
    )


def approval_row(approval: Approval) -> tuple[Any, ...]:
    return (
        approval.id,
        approval.invocation_id,
        approval.digest,
        spell(dict(approval.card)),
        approval.votes_needed,
        approval.group,
        spell(list(approval.proposers)),
        stamp(approval.expires_at),
        approval.status.value,
    )


def approval_from(row: tuple[Any, ...]) -> Approval:
    id_, invocation_id, status, digest, card, votes_needed, group, proposers, expires_at, votes = row
    return Approval(
        id=id_,
        invocation_id=invocation_id,
        status=ApprovalStatus(status),
        digest=digest,
        card=json.loads(card),
        votes_needed=votes_needed,
        group=group,
        proposers=tuple(json.loads(proposers)),
        expires_at=datetime.fromisoformat(expires_at),
        votes=tuple(_vote_from(vote, approval_id=id_) for vote in json.loads(votes)),
    )


def vote_row(vote: Vote) -> tuple[Any, ...]:
    return (vote.approval_id, vote.digest, vote.voter, vote.decision, vote.reason, vote.door, stamp(vote.at))


def _vote_from(vote: list[Any], *, approval_id: str) -> Vote:
    digest, voter, decision, reason, door, at = vote
    return Vote(
        approval_id=approval_id,
        digest=digest,
        voter=voter,
        decision=decision,
        reason=reason,
        door=door,
        at=datetime.fromisoformat(at),
    )


def link_from(row: tuple[Any, ...]) -> Link:
    _, writer, seq, at, kind, agent, tool, safety, invocation_id, body_digest, previous, hash_, body = row
    return Link(
        writer=writer,
        seq=seq,
        at=at,
        kind=kind,
        agent=agent,
        tool=tool,
        safety=safety,
        invocation_id=invocation_id,
        body_digest=body_digest,
        previous=previous,
        hash=hash_,
        body=body,
    )


def checkpoint_row(checkpoint: Checkpoint) -> tuple[Any, ...]:
    return (checkpoint.number, checkpoint.statement, bytes.fromhex(checkpoint.signature))


def checkpoint_from(row: tuple[Any, ...]) -> Checkpoint:
    number, statement, signature = row
    return Checkpoint(number=number, statement=statement, signature=signature.hex())
