"""Every kind of event the trail can hold, with the fields each one must have.

Takes: facts from the pipeline.  Gives: `AuditEvent`s that fit the table.
Never: lets an event about a tool go without the tool's safety class.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from ringfence.errors import Misuse


@dataclass(frozen=True, kw_only=True)
class EventKind:
    """What an event of this kind means and must say."""

    meaning: str
    fields: frozenset[str]
    order: tuple[str, ...]
    concerns: str = "tool"


def _kind(meaning: str, *fields: str, concerns: str = "tool") -> EventKind:
    return EventKind(meaning=meaning, fields=frozenset(fields), order=fields, concerns=concerns)


KINDS: dict[str, EventKind] = {
    "config_loaded": _kind("a configuration took effect", "config_digest", "agents", "sandbox", concerns="runtime"),
    "tool_registered": _kind("a contract was admitted", "fingerprint", "description", "description_hash", "source", "source_digest", "trust", "accepted_by"),
    "definition_changed": _kind("a contract differs from its pin and is quarantined", "fingerprint", "description", "description_hash", "source", "source_digest", "was"),
    "code_changed": _kind("a tool's source changed while its contract did not", "fingerprint", "source", "source_digest", "was", "held"),
    "source_changed": _kind("a source offers other tools than were accepted", "source", "added", "removed", concerns="runtime"),
    "tool_retired": _kind("an operator accepted that a tool is gone", "source", "source_digest", "fingerprint", "accepted_by"),
    "view_built": _kind("an agent's effective tools were settled", "binding", "visible", "hidden", concerns="agent"),
    "tool_proposed": _kind("a model asked for a call", "arguments", "arguments_digest", "fingerprint", "description_hash", "session", "user", "binding", "account", "findings"),
    "policy_decision": _kind("the policy's verdict on a call", "decision", "reasons", "shadow", "code"),
    "tool_invocation_approval_required": _kind("a call waits for votes", "approval_id", "card_digest", "votes_needed", "expires_at", "proposers"),
    "vote_cast": _kind("a person gave a word on a call", "approval_id", "card_digest", "voter", "vote", "reason", "door"),
    "approval_resolved": _kind("a request for votes came to an end", "approval_id", "status", "by"),
    "tool_started": _kind("a call was handed to a sandbox", "fingerprint", "description_hash", "source_digest", "sandbox", "account", "warrant", "grant", "secrets", "idempotency_key"),
    "tool_completed": _kind("a call ended in a valid reply", "output_digest", "clean", "raw", "findings", "effects", "evidence"),
    "tool_failed": _kind("a call ended without a valid reply", "code", "message", "raw", "effects", "evidence"),
    "call_repeated": _kind("a call was answered with what is on record under its key", "of", "idempotency_key"),
    "call_settled": _kind("a person, or the tool's own `reconcile`, settled a call in doubt", "status", "by", "because"),
    "reconcile_started": _kind("a tool was asked whether a call in doubt took effect", "fingerprint", "source_digest", "sandbox", "grant", "secrets", "idempotency_key", "asked_by"),
    "reconcile_ended": _kind("what a tool said of a call in doubt", "answer", "code", "message", "raw", "effects", "evidence"),
    "grant_given": _kind("an operator approved calls in advance, within bounds", "grant_id", "digest", "grant", "by"),
    "grant_signed": _kind("another operator signed a standing grant", "grant_id", "digest", "by"),
    "grant_used": _kind("a call rests on a standing grant", "grant_id", "digest", "signed_by", "answers"),
    "grant_revoked": _kind("an operator ended a standing grant", "grant_id", "digest", "by", "because"),
    "frozen": _kind("an operator stopped calls", "freeze_id", "scope", "by", "because", "void", concerns="runtime"),
    "unfrozen": _kind("an operator let calls start again", "scope", "by", "lifted", concerns="runtime"),
    "call_void": _kind("a waiting call can no longer run as it was shown", "code", "message"),
    "bodies_removed": _kind("an operator let the bodies of old calls go", "before", "by", "removed", concerns="runtime"),
    "security_event": _kind("something was noticed that an operator should know", "what", "detail", concerns="runtime"),
}  # fmt: skip


class AuditEvent(NamedTuple):
    """One thing that happened; `safety` is there whenever it concerns a known tool."""

    kind: str
    at: datetime
    agent: str | None
    tool: str | None
    safety: str | None
    invocation_id: str | None
    body: dict[str, Any]


def event(
    kind: str,
    *,
    at: datetime,
    body: dict[str, Any],
    agent: str | None = None,
    tool: str | None = None,
    safety: str | None = None,
    invocation_id: str | None = None,
) -> AuditEvent:
    """An event that fits its kind; one that does not is an error in the program, found by the first test that makes it."""
    shape = KINDS[kind]
    # Most bodies are written in the order of the table, and told at a glance.
    if tuple(body) != shape.order and body.keys() != shape.fields:
        raise Misuse(f"a `{kind}` event has {sorted(body)}, and must have {sorted(shape.fields)}")
    if shape.concerns == "tool" and tool is None:
        raise Misuse(f"a `{kind}` event must name its tool")
    return AuditEvent(kind=kind, at=at, agent=agent, tool=tool, safety=safety, invocation_id=invocation_id, body=body)
