"""What an approver is shown, and the digest that a vote binds to.

Takes: a proposal and its verdict.  Gives: a `Card`, equal only where everything shown is equal.
Never: leaves out of the digest anything that decides what will run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ringfence.contract.fingerprint import canonical, digest
from ringfence.policy.decision import Verdict
from ringfence.policy.proposal import Proposal


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Who asks, in which conversation, under which key."""

    session: str
    user: str | None
    proposers: tuple[str, ...]
    idempotency_key: str


@dataclass(frozen=True, kw_only=True)
class Card:
    """One request for votes: the same bytes that will run, and all that speaks for or against it."""

    approval_id: str
    invocation_id: str
    expires_at: str
    content: dict[str, Any]

    @cached_property
    def digest(self) -> str:
        """The name of exactly what was shown."""
        return digest(canonical(self.document()))

    def document(self) -> dict[str, Any]:
        return {
            "approval_id": self.approval_id,
            "invocation_id": self.invocation_id,
            "expires_at": self.expires_at,
            **self.content,
        }


def card_content(
    proposal: Proposal, *, verdict: Verdict, origin: Origin, findings: Sequence[str] = ()
) -> dict[str, Any]:
    """Everything a vote is about, apart from the ids of the request itself."""
    tool = proposal.tool
    return {
        "session": origin.session,
        "user": origin.user,
        "agent": proposal.agent.name,
        "binding": proposal.binding,
        "account": proposal.account,
        "tool": tool.name,
        "fingerprint": tool.fingerprint,
        "source_digest": tool.source_digest,
        "safety": tool.safety.value,
        "egress": tool.egress.value,
        "arguments": proposal.call.canonical.decode(),
        "findings": list(findings),
        "idempotency_key": origin.idempotency_key,
        "reasons": [reason.document() for reason in verdict.reasons],
        "decision": verdict.decision.word,
        "grant": proposal.grant.document(),
        "posture": tool.tool.posture,
        "proposers": sorted(origin.proposers),
    }
