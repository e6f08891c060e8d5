"""What the policy is asked: may this agent make this exact call?

Takes: the terms of a tool for an agent, and parsed arguments.  Gives: the facts that every finding is made from.
Never: holds anything the model could choose besides the arguments.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringfence.agents.bindings import Outbound
from ringfence.agents.profile import Agent
from ringfence.contract.call import ToolCall
from ringfence.policy.grant import Grant
from ringfence.policy.terms import Terms
from ringfence.registry.registry import RegisteredTool


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A call as the policy sees it: what is the same for every call like it, and what was asked for this time."""

    terms: Terms
    call: ToolCall

    @property
    def tool(self) -> RegisteredTool:
        return self.terms.tool

    @property
    def agent(self) -> Agent:
        return self.terms.acting.agent

    @property
    def binding(self) -> str | None:
        return self.terms.binding

    @property
    def grant(self) -> Grant:
        return self.terms.grant

    @property
    def account(self) -> str | None:
        return self.terms.acting.account_name

    @property
    def outbound(self) -> tuple[Outbound, ...]:
        """Lists of recipients, all of which must agree; none is nobody."""
        return self.terms.acting.outbound
