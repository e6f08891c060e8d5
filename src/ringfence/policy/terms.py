"""What is the same for every call of one tool by one agent where it stands, worked out once.

Takes: an admitted tool, an agent where it stands, the operator's ceiling.  Gives: what a call may reach, use and draw.
Never: changes; another registry or another binding has terms of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringfence.agents.acting import Acting
from ringfence.agents.spending import SpendCap
from ringfence.contract.limits import Limits
from ringfence.contract.patterns import GlobSet
from ringfence.contract.remembering import remembered
from ringfence.policy.decision import Reason, Verdict, strictest
from ringfence.policy.floors import floors
from ringfence.policy.grant import Grant, resolve_grant
from ringfence.policy.quotas import Draw, draws_for
from ringfence.policy.rules import Subject
from ringfence.registry.registry import RegisteredTool


@dataclass(frozen=True, kw_only=True, eq=False)
class Terms:
    """Each part is worked out when it is first asked for; one that refuses is asked anew at every call."""

    tool: RegisteredTool
    acting: Acting
    binding: str | None
    ceiling: Limits

    @remembered
    def grant(self) -> Grant:
        """Declared ∩ permitted."""
        tool = self.tool.tool
        return resolve_grant(tool.name, tool.needs, permits=self.acting.permits, egress=tool.egress)

    @remembered
    def floors(self) -> tuple[Reason, ...]:
        """What the contract alone demands."""
        return tuple(floors(self.tool, grant=self.grant))

    @remembered
    def unruled(self) -> Verdict:
        """The verdict where nothing but the contract has anything to say."""
        return strictest(self.floors)

    @remembered
    def limits(self) -> Limits:
        """The tool's own, none above the ceiling."""
        return self.tool.tool.limits.capped_by(self.ceiling)

    @remembered
    def draws(self) -> tuple[Draw, ...]:
        """Every bucket that a call draws on."""
        return draws_for(self.acting, tool=self.tool.name)

    @remembered
    def caps(self) -> tuple[tuple[str, SpendCap], ...]:
        """Every cap that concerns the tool, with the binding that it is of."""
        return tuple((on, cap) for on, cap in self.acting.caps if GlobSet((cap.tools,)).matches(self.tool.name))

    @remembered
    def is_narrowed(self) -> bool:
        """Whether recipients, a profile or caps have anything to say of these calls."""
        return self.tool.shape.recipients.present or self.acting.agent.profile is not None or bool(self.caps)

    @remembered
    def subject(self) -> Subject:
        """What rules match on."""
        return Subject(
            tool=self.tool.name,
            agent=self.acting.agent.name,
            binding=self.binding or "",
            safety=self.tool.safety.value,
            egress=self.tool.egress.value,
        )
