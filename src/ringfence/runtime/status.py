"""What one agent can do, for every tool that it cannot see, why; what an operator stopped, and what one granted.

Takes: a view, the freezes in force and the grants on record.  Gives: a report for operators.
Never: is shown to a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ringfence.agents.profile import CapabilityValidationError
from ringfence.agents.view import Hidden, ToolView
from ringfence.approvals.standing import StandingGrant
from ringfence.contract.safety import CLASS_FLOORS, EGRESS_VOTES
from ringfence.policy.decision import decision_for
from ringfence.registry.registry import RegisteredTool
from ringfence.runtime.freezing import Freeze
from ringfence.runtime.parts import Parts
from ringfence.runtime.spending import CapStanding, cap_standings


@dataclass(frozen=True, kw_only=True)
class AgentStatus:
    """One agent's effective tools."""

    agent: str
    binding: str | None
    owner: str | None
    account: str | None
    bindings: tuple[str, ...]
    tools: tuple[RegisteredTool, ...]
    hidden: tuple[Hidden, ...]
    errors: tuple[CapabilityValidationError, ...]
    freezes: tuple[Freeze, ...]
    grants: tuple[StandingGrant, ...]
    caps: tuple[CapStanding, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "binding": self.binding,
            "owner": self.owner,
            "account": self.account,
            "bindings": list(self.bindings),
            "tools": [tool_document(tool) for tool in self.tools],
            "hidden": [vars(hidden) for hidden in self.hidden],
            "errors": [vars(error) for error in self.errors],
            "freezes": [freeze.document() for freeze in self.freezes],
            "grants": [grant.document() for grant in self.grants],
            "spend_caps": [cap.document() for cap in self.caps],
        }


async def agent_status(view: ToolView, *, parts: Parts) -> AgentStatus:
    """What holds for this agent now: the view, every freeze that stops it or one of its tools, every open grant."""
    name, now, seen = view.agent.name, parts.now(), {tool.name for tool in view}
    frozen = await parts.store.freezes()
    granted = await parts.store.standing_grants()
    return AgentStatus(
        agent=view.agent.name,
        binding=view.binding,
        owner=view.agent.owner,
        account=view.acting.account_name,
        bindings=tuple(each.name for each in view.agent.bindings),
        tools=tuple(view),
        hidden=view.hidden,
        errors=view.errors,
        freezes=tuple(each for each in frozen if each.scope.agent in (None, name) and each.scope.tool in (None, *seen)),
        grants=tuple(each for each in granted if each.bounds.agent == name and each.state(now) == "open"),
        caps=await cap_standings(parts, view.acting),
    )


def tool_document(tool: RegisteredTool) -> dict[str, Any]:
    """A tool as operators see it in a list."""
    return {
        "name": tool.name,
        "description": tool.description,
        "safety": tool.safety.value,
        "egress": tool.egress.value,
        "floor": decision_for(max(CLASS_FLOORS[tool.safety].votes, EGRESS_VOTES[tool.egress])).word,
        "trust": tool.trust.value,
        "quarantine": tool.quarantine,
        "source": tool.source,
        "fingerprint": tool.fingerprint,
        "source_digest": tool.source_digest,
        "needs": [need.document() for need in tool.tool.needs],
    }
