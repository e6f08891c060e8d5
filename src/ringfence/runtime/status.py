"""What one agent can do, and for every tool that it cannot see, why.

Takes: a view.  Gives: a report for operators.  Never: is shown to a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ringfence.agents.profile import CapabilityValidationError
from ringfence.agents.view import Hidden, ToolView
from ringfence.contract.safety import CLASS_FLOORS, EGRESS_VOTES
from ringfence.policy.decision import decision_for
from ringfence.registry.registry import RegisteredTool


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
        }


def agent_status(view: ToolView) -> AgentStatus:
    return AgentStatus(
        agent=view.agent.name,
        binding=view.binding,
        owner=view.agent.owner,
        account=view.acting.account_name,
        bindings=tuple(each.name for each in view.agent.bindings),
        tools=tuple(view),
        hidden=view.hidden,
        errors=view.errors,
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
