"""A session as it happened, told again from the trail alone.

Takes: the events of the trail.  Gives: its calls in order, each with what was asked, decided, voted and answered.
Never: runs, asks or records anything; there is nothing here to run it with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ringfence.audit.chain import Link, sha256

_REGISTERING = ("tool_registered", "definition_changed")
_ENDS = {"tool_completed": "completed", "tool_failed": "failed", "call_void": "void"}


@dataclass(kw_only=True)
class ReplayedCall:
    """One call, as far as the trail tells; `missing` counts events whose bodies an operator let go."""

    invocation_id: str
    at: str
    tool: str
    safety: str | None
    ended: str = "proposed"
    arguments: str | None = None
    fingerprint: str | None = None
    description_hash: str | None = None
    description: str | None = None
    swapped: bool = False
    decision: str | None = None
    reasons: list[Any] = field(default_factory=list[Any])
    votes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    output: Any = None
    code: str | None = None
    missing: int = 0
    problems: list[str] = field(default_factory=list[str])

    def document(self) -> dict[str, Any]:
        return dict(vars(self))


class Replay:
    """Follows the trail in the order it was kept and gathers the calls of one session."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._calls: dict[str, ReplayedCall] = {}
        self._descriptions: dict[str, str] = {}
        self._told: dict[str, str | None] = {}

    def calls(self) -> list[ReplayedCall]:
        return list(self._calls.values())

    def meet(self, link: Link) -> None:
        body = _body(link)
        if link.kind in _REGISTERING and body:
            self._descriptions[body["description_hash"]] = body["description"]
        if link.kind == "tool_proposed" and body and body["session"] == self._session:
            self._propose(link, body)
        elif link.invocation_id in self._calls:
            self._go_on(self._calls[link.invocation_id], link, body)

    def _propose(self, link: Link, body: dict[str, Any]) -> None:
        if link.invocation_id is None or link.invocation_id in self._calls:
            return
        tool, described = link.tool or "", body.get("description_hash")
        before = self._told.get(tool, described)
        self._told[tool] = described
        self._calls[link.invocation_id] = ReplayedCall(
            invocation_id=link.invocation_id,
            at=link.at,
            tool=tool,
            safety=link.safety,
            arguments=body["arguments"],
            fingerprint=body["fingerprint"],
            description_hash=described,
            description=self._descriptions.get(described or ""),
            swapped=described != before,
        )

    def _go_on(self, call: ReplayedCall, link: Link, body: dict[str, Any] | None) -> None:
        call.ended = _ENDS.get(link.kind, call.ended)
        if body is None:
            call.missing += 1
        elif link.kind == "policy_decision":
            call.decision, call.reasons, call.code = body["decision"], body["reasons"], body["code"]
            call.ended = "refused" if body["code"] else call.ended
        elif link.kind == "vote_cast":
            call.votes.append({name: body[name] for name in ("voter", "vote", "reason", "door")})
        elif link.kind == "tool_started":
            call.ended = "started"
            if body["description_hash"] != call.description_hash:
                call.problems.append("what the tool says of itself changed between the request and the start")
        else:
            _end(call, link, body)


def _end(call: ReplayedCall, link: Link, body: dict[str, Any]) -> None:
    if link.kind == "tool_completed":
        call.output = json.loads(body["clean"])
        if body["output_digest"] != f"sha256:{sha256(body['clean'])}":
            call.problems.append("the recorded output is not the one that its digest names")
    elif link.kind in ("tool_failed", "call_void"):
        call.code = body["code"]
    elif link.kind == "tool_invocation_approval_required":
        call.ended = "waiting"
    elif link.kind == "approval_resolved" and body["status"] != "approved":
        call.ended = body["status"]


def _body(link: Link) -> dict[str, Any] | None:
    """What an event says; one that was let go or does not fit its digest says nothing."""
    if link.body is None or sha256(link.body) != link.body_digest:
        return None
    body: dict[str, Any] = json.loads(link.body)
    return body


def replayed(links: Iterable[Link], *, session: str) -> list[ReplayedCall]:
    """The calls of one session, in the order they were asked for."""
    replay = Replay(session)
    for link in links:
        replay.meet(link)
    return replay.calls()
