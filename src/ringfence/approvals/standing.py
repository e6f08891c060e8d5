"""An operator's approval given in advance: for one agent, one tool, some arguments, so many times, until a date.

Takes: a verdict and the grants on record for its agent and tool.  Gives: the verdict with single reasons answered.
Never: answers a whole verdict, counts a proposer's or a former operator's signature, or outlives its contract or code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Literal, Protocol

from ringfence.contract.fingerprint import canonical, digest
from ringfence.errors import Misuse
from ringfence.policy.answering import answers
from ringfence.policy.conditions import Condition, ConditionFailed, ConditionInvalid, compile_conditions
from ringfence.policy.decision import Decision, Reason, Verdict
from ringfence.policy.proposal import Proposal

# The most that anybody can approve in advance: what is not looked at again in a quarter was forgotten.
LONGEST = timedelta(days=90)
MOST_USES = 10_000


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What a grant is for. `answers` names the reasons, beyond the tool's own floors, that its signers know of."""

    agent: str
    tool: str
    fingerprint: str
    source_digest: str
    when: Mapping[str, Any]
    answers: tuple[str, ...]
    max_uses: int
    given_at: datetime
    expires_at: datetime
    because: str

    def require_bounded(self) -> None:
        """Refuse a grant that could be used too often, for too long, or under conditions that mean nothing."""
        if not 1 <= self.max_uses <= MOST_USES:
            raise Misuse(f"a standing grant has 1 to {MOST_USES} uses, not {self.max_uses}")
        if not timedelta(0) < self.expires_at - self.given_at <= LONGEST:
            raise Misuse(f"a standing grant lasts at most {LONGEST.days} days, and longer than no time")
        try:
            compile_conditions(self.when, absent="fails")
        except ConditionInvalid as error:
            raise Misuse(str(error), remedy="write conditions as in a rule's `when`") from None

    @cached_property
    def condition(self) -> Condition:
        # A rule holds for an argument that is left out; a grant must not, or leaving it out would loosen.
        return compile_conditions(self.when, absent="fails")

    def document(self) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "tool": self.tool,
            "fingerprint": self.fingerprint,
            "source_digest": self.source_digest,
            "when": dict(self.when),
            "answers": list(self.answers),
            "max_uses": self.max_uses,
            "given_at": self.given_at.isoformat(),
            "expires_at": self.expires_at.isoformat(),
            "because": self.because,
        }


@dataclass(frozen=True, kw_only=True)
class Ended:
    """Why a grant can no longer be used, since when, and by whose word, if it was somebody's."""

    at: datetime
    by: str | None
    why: str


@dataclass(frozen=True, kw_only=True)
class StandingGrant:
    """A grant as kept; `signed_by` are the operators who gave it."""

    id: str
    bounds: Bounds
    safety: str
    signed_by: tuple[str, ...]
    uses: int = 0
    ended: Ended | None = None

    @cached_property
    def digest(self) -> str:
        """The name of exactly what was granted; a signature binds to it."""
        return digest(canonical({"grant_id": self.id, **self.bounds.document()}))

    def state(self, now: datetime) -> Literal["open", "ended", "expired", "used_up"]:
        if self.ended is not None:
            return "ended"
        if now >= self.bounds.expires_at:
            return "expired"
        return "open" if self.uses < self.bounds.max_uses else "used_up"

    def covers(self, proposal: Proposal, *, now: datetime) -> bool:
        """Whether this call lies within the bounds; what cannot be judged does not."""
        bounds, tool = self.bounds, proposal.tool
        given = (bounds.agent, bounds.tool, bounds.fingerprint, bounds.source_digest)
        if self.state(now) != "open" or given != (proposal.agent.name, tool.name, tool.fingerprint, tool.source_digest):
            return False
        try:
            return bounds.condition(proposal.call.arguments)
        except (ConditionFailed, ConditionInvalid):
            return False

    def document(self) -> dict[str, Any]:
        ended = self.ended
        return {
            "id": self.id,
            **self.bounds.document(),
            "safety": self.safety,
            "digest": self.digest,
            "signed_by": list(self.signed_by),
            "uses": self.uses,
            "ended": None if ended is None else {"at": ended.at.isoformat(), "by": ended.by, "why": ended.why},
        }


class Grants(Protocol):
    """Where standing grants are kept. A use is consumed by the journal, in the transaction that starts the call."""

    async def give(self, grant: StandingGrant, *, events: Sequence[Any]) -> None:
        """Keep a new grant with its first signature."""
        ...

    async def sign(self, grant_id: str, *, operator: str, digest: str, events: Sequence[Any]) -> None:
        """Keep one more operator's signature."""
        ...

    async def revoke(self, grant_id: str, *, ended: Ended, events: Sequence[Any]) -> None:
        """End a grant for good."""
        ...

    async def standing_grant(self, grant_id: str) -> StandingGrant | None:
        """One grant."""
        ...

    async def standing_grants(self) -> tuple[StandingGrant, ...]:
        """Every grant ever given, oldest first."""
        ...

    async def open_grants(self, *, agent: str, tool: str) -> tuple[StandingGrant, ...]:
        """The grants that calls of this tool by this agent could still use."""
        ...


@dataclass(frozen=True, kw_only=True)
class Signed:
    """A grant that covers a call, and how many of its signatures count for it."""

    grant: StandingGrant
    signatures: int

    def answers(self, reason: Reason) -> bool:
        return answers(reason, named=frozenset(self.grant.bounds.answers), signatures=self.signatures)


def counted(
    grants: Iterable[StandingGrant], *, operators: frozenset[str], proposers: Iterable[str]
) -> tuple[Signed, ...]:
    """Grants with the signatures that count: of people who are operators now and did not propose the call."""
    able = operators - frozenset(proposers)
    return tuple(Signed(grant=grant, signatures=len(able & frozenset(grant.signed_by))) for grant in grants)


def answered(verdict: Verdict, *, grants: Sequence[Signed]) -> Verdict:
    """The verdict with reasons answered where that spares a vote; else as it is, so that no use is spent in vain."""
    ordered = sorted(grants, key=lambda each: -sum(map(each.answers, verdict.reasons)))
    for target in (Decision.ALLOW, Decision.APPROVE):
        tried = tuple(_answered(each, ordered) if each.decision > target else each for each in verdict.reasons)
        if target < verdict.decision and all(each.asks <= target for each in tried):
            return replace(verdict, reasons=tried)
    return verdict


def _answered(reason: Reason, grants: Sequence[Signed]) -> Reason:
    found = next((each.grant.id for each in grants if each.answers(reason)), None)
    return reason if found is None else replace(reason, answered_by=found)
