"""One call on its way through the stages: what is known of it so far, and what the trail is told.

Takes: a request, then each stage's product as it comes.  Gives: the invocation row and the events for each move.
Never: decides anything.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ringfence.agents.acting import Acting
from ringfence.agents.profile import Agent
from ringfence.approvals.inbox import Approval
from ringfence.approvals.request import Card, Origin, card_content
from ringfence.approvals.standing import StandingGrant
from ringfence.approvals.warrant import Warrant
from ringfence.audit.events import AuditEvent, event
from ringfence.contract.call import ToolCall
from ringfence.contract.fingerprint import canonical, digest
from ringfence.errors import CallRefused
from ringfence.execution.idempotency import derive_key, namespaced
from ringfence.execution.placing import Placements
from ringfence.execution.sandbox import Job, RawOutput
from ringfence.policy.decision import Verdict
from ringfence.policy.grant import NOTHING, Grant
from ringfence.policy.proposal import Proposal
from ringfence.policy.spending import Spend
from ringfence.policy.terms import Terms
from ringfence.registry.registry import RegisteredTool
from ringfence.runtime.invocation import Invocation, Recorded
from ringfence.runtime.request import CallRequest
from ringfence.sanitise import HONEST, Finding, clean_json, visible

_MOST_SHOWN = 200


def new_id(prefix: str) -> str:
    return f"{prefix}_{os.urandom(12).hex()}"


@dataclass(kw_only=True)
class Case:
    """The facts of one call, filled in by the stages from left to right."""

    id: str
    at: datetime
    request: CallRequest
    agent: Agent
    acting: Acting | None = None
    tool: RegisteredTool | None = None
    terms: Terms | None = None
    call: ToolCall | None = None
    # The same, for stages before which they are settled; whoever asks too early finds no such attribute.
    known_acting: Acting = field(init=False, repr=False, compare=False)
    known_tool: RegisteredTool = field(init=False, repr=False, compare=False)
    known_terms: Terms = field(init=False, repr=False, compare=False)
    known_call: ToolCall = field(init=False, repr=False, compare=False)
    grant: Grant = NOTHING
    verdict: Verdict | None = None
    findings: tuple[Finding, ...] = ()
    grants: tuple[StandingGrant, ...] = ()
    resumed: Recorded | None = None
    key: str | None = None
    withheld: tuple[str, ...] = ()
    placements: Placements | None = None
    spends: tuple[Spend, ...] = ()

    def seen(self, terms: Terms) -> None:
        """Keep which tool it is, who acts, and on what terms."""
        self.terms = self.known_terms = terms
        self.tool = self.known_tool = terms.tool
        self.acting = self.known_acting = terms.acting

    def parsed(self, call: ToolCall) -> None:
        """Keep what the model asked for, with anything hidden in it noticed."""
        self.call = self.known_call = call
        found = clean_json(call.arguments)[1]
        self.findings = tuple(each for each in found if each.kind not in HONEST) if found else ()

    def adopt(self, recorded: Recorded) -> None:
        """This is not a new call: it is the one on record, picked up again."""
        self.id, self.at, self.resumed = recorded.invocation.id, recorded.invocation.proposed_at, recorded

    def proposal(self) -> Proposal:
        return Proposal(terms=self.known_terms, call=self.known_call)

    @property
    def account(self) -> str | None:
        """As whom the call acts; nobody, before the view is known and for an agent without channels."""
        return self.acting.account_name if self.acting else None

    @property
    def known_verdict(self) -> Verdict:
        if self.verdict is None:
            raise CallRefused("a stage asked for the verdict before there was one")
        return self.verdict

    @property
    def found_kinds(self) -> list[str]:
        """What is hidden in the arguments, for card and trail."""
        return sorted({finding.kind for finding in self.findings}) if self.findings else []

    @property
    def shown_tool(self) -> str:
        """The tool's name as it is kept; one that is registered can be kept as it is."""
        return self.tool.name if self.tool else shown_name(self.request.tool)

    @property
    def proposers(self) -> tuple[str, ...]:
        identity = self.request.identity
        before = self.resumed.invocation.proposers if self.resumed else (identity.typed_by,)
        return tuple(dict.fromkeys(filter(None, (identity.user, self.agent.owner, *before))))

    @property
    def idempotency_key(self) -> str:
        if self.resumed:
            return self.resumed.invocation.idempotency_key
        if self.key is None:
            self.key = self._derived_key()
        return self.key

    def _derived_key(self) -> str:
        identity = self.request.identity
        arguments = self.call.canonical if self.call else b"{}"
        tool = self.shown_tool
        given = self.request.idempotency_key or derive_key(
            session=identity.session, turn=self.request.turn, tool=tool, arguments=arguments
        )
        return namespaced(given, agent=identity.agent, tool=tool)

    def origin(self) -> Origin:
        identity = self.request.identity
        return Origin(
            session=identity.session, user=identity.user, proposers=self.proposers, idempotency_key=self.idempotency_key
        )

    def card(self, *, approval_id: str, expires_at: str) -> Card:
        content = card_content(
            self.proposal(), verdict=self.known_verdict, origin=self.origin(), findings=self.found_kinds
        )
        return Card(approval_id=approval_id, invocation_id=self.id, expires_at=expires_at, content=content)

    def job(self, warrant: Warrant) -> Job:
        tool = self.known_tool
        return Job(
            kind=tool.runs_as,
            invocation_id=self.id,
            tool=tool,
            arguments=self.known_call.canonical,
            grant=self.grant,
            limits=self.known_terms.limits,
            agent=self.agent.name,
            session=self.request.identity.session,
            idempotency_key=self.idempotency_key,
            account=self.known_acting.account,
            warrant=warrant,
        )

    def invocation(self) -> Invocation:
        identity = self.request.identity
        arguments = self.call.canonical if self.call else _unparsed(self.request)
        return Invocation(
            id=self.id,
            session=identity.session,
            agent=identity.agent,
            binding=identity.binding,
            user=identity.user,
            proposers=self.proposers,
            tool=self.shown_tool,
            fingerprint=self.tool.fingerprint if self.tool else None,
            source_digest=self.tool.source_digest if self.tool else None,
            arguments=arguments.decode(),
            arguments_digest=self.call.digest if self.call else digest(arguments),
            idempotency_key=self.idempotency_key,
            proposed_at=self.at,
        )

    def event(self, kind: str, body: dict[str, Any], *, at: datetime | None = None) -> AuditEvent:
        return event(
            kind,
            at=at or self.at,
            body=body,
            agent=self.agent.name,
            tool=self.tool.name if self.tool else self.shown_tool,
            safety=self.terms.subject.safety if self.terms else self._shown_safety(),
            invocation_id=self.id,
        )

    def _shown_safety(self) -> str | None:
        """Of a tool that is gone meanwhile, the class on the card that was shown."""
        return str(self.resumed.approval.card["safety"]) if self.resumed and self.resumed.approval else None

    def proposed(self, invocation: Invocation | None = None) -> AuditEvent:
        """The request as it came; whoever has the row already need not have it made again."""
        invocation = invocation or self.invocation()
        body = {
            "arguments": invocation.arguments,
            "arguments_digest": invocation.arguments_digest,
            "fingerprint": invocation.fingerprint,
            "description_hash": self.tool.tool.description_hash if self.tool else None,
            "session": invocation.session,
            "user": invocation.user,
            "binding": invocation.binding,
            "account": self.account,
            "findings": self.found_kinds,
        }
        return self.event("tool_proposed", body)

    def decided(self, *, code: str | None = None) -> AuditEvent:
        verdict = self.verdict
        body = {
            "decision": verdict.decision.word if verdict and code is None else "deny",
            "reasons": verdict.told if verdict else [],
            "shadow": verdict.told_in_shadow if verdict else [],
            "code": code,
        }
        return self.event("policy_decision", body)

    def asked(self, approval: Approval) -> AuditEvent:
        body = {
            "approval_id": approval.id,
            "card_digest": approval.digest,
            "votes_needed": approval.votes_needed,
            "expires_at": approval.expires_at.isoformat(),
            "proposers": list(approval.proposers),
        }
        return self.event("tool_invocation_approval_required", body)

    def started(self, warrant: Warrant, *, sandbox: str, at: datetime) -> AuditEvent:
        tool = self.known_tool
        body = {
            "fingerprint": tool.fingerprint,
            "description_hash": tool.tool.description_hash,
            "source_digest": tool.source_digest,
            "sandbox": sandbox,
            "account": self.account,
            "warrant": {
                "basis": warrant.basis,
                "approval_id": warrant.approval_id,
                "digest": warrant.digest,
                "grants": list(warrant.grants),
            },
            "grant": self.grant.document(),
            "secrets": self.placements.versions if self.placements else {},
            "idempotency_key": self.idempotency_key,
        }
        return self.event("tool_started", body, at=at)

    def failed(self, *, code: str, message: str, raw: RawOutput | None, sealed: str | None, at: datetime) -> AuditEvent:
        body = {
            "code": code,
            "message": message,
            "raw": sealed,
            "effects": raw.effects.document() if raw else {},
            "evidence": raw.evidence if raw else {},
        }
        return self.event("tool_failed", body, at=at)


def shown_name(name: str) -> str:
    """A tool's name as it is kept: what a model invents may be long or unprintable."""
    return visible(name[:_MOST_SHOWN])


def _unparsed(request: CallRequest) -> bytes:
    """Arguments that were refused are kept by their shape alone: they may hold anything."""
    keys = [visible(key[:64]) for key in request.arguments if type(key) is str]
    return canonical({"refused_arguments": sorted(keys[:50])})
