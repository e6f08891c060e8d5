"""What the policy is asked: may this agent make this exact call?

Takes: a registered tool, its parsed arguments and who acts.  Gives: the facts that every finding is made from.
Never: holds anything the model could choose besides the arguments.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringfence.agents.bindings import Outbound
from ringfence.agents.profile import Agent
from ringfence.agents.spending import SpendCap
from ringfence.contract.call import ToolCall
from ringfence.policy.grant import Grant
from ringfence.registry.registry import RegisteredTool


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A call as the policy sees it. `outbound` are lists of recipients, all of which must agree; none is nobody."""

    tool: RegisteredTool
    call: ToolCall
    agent: Agent
    binding: str | None
    grant: Grant
    account: str | None = None
    outbound: tuple[Outbound, ...] = ()
    caps: tuple[SpendCap, ...] = ()
