"""VIEW: what one agent can see; everything else does not exist for it.

Takes: the registry, an agent, and what exists on this host.  Gives: a `ToolView`.
Never: tells a caller why a tool is missing; operators read that in `ringfence status`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ringfence.agents.accounts import NO_ACCOUNTS, Accounts
from ringfence.agents.acting import Acting, acting_on
from ringfence.agents.profile import Agent, CapabilityValidationError, misfits
from ringfence.contract.patterns import GlobSet
from ringfence.contract.requirements import Requirement
from ringfence.errors import CallRefused
from ringfence.registry.pins import CODE_CHANGED, DEFINITION_CHANGED, FAILED_GATE
from ringfence.registry.registry import RegisteredTool, Registry

_OUT_OF_USE = {
    DEFINITION_CHANGED: "its contract is not the one that was accepted; `ringfence pins diff` shows the difference",
    CODE_CHANGED: "its source is not the one that was accepted; `ringfence pins diff` names it",
    FAILED_GATE: "its contract failed the gate",
}


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """A registered tool that the agent cannot see, and why; for operators."""

    tool: str
    reason: str
    message: str


@dataclass(frozen=True, kw_only=True)
class ToolView:
    """The only handle a caller gets: what is not in it cannot be listed, found or called."""

    agent: Agent
    binding: str | None
    acting: Acting
    visible: Mapping[str, RegisteredTool]
    hidden: tuple[Hidden, ...]
    errors: tuple[CapabilityValidationError, ...]

    def __iter__(self) -> Iterator[RegisteredTool]:
        return iter(self.visible.values())

    def __len__(self) -> int:
        return len(self.visible)

    def find(self, name: str) -> RegisteredTool:
        """The tool of this name; a hidden one and one that never existed are the same refusal."""
        found = self.visible.get(name)
        if found is None:
            raise CallRefused("no such tool", code="tool_not_found")
        return found


def build_view(
    registry: Registry,
    *,
    agent: Agent,
    binding: str | None = None,
    accounts: Accounts = NO_ACCOUNTS,
    existing: frozenset[Requirement] = frozenset(),
) -> ToolView:
    """Prune the registry to what this agent may see; on a binding, to what both leave in."""
    acting = acting_on(agent, binding=binding, accounts=accounts)
    allowed = GlobSet(agent.allowed_tools or ("*",))
    visible: dict[str, RegisteredTool] = {}
    hidden: list[Hidden] = []
    errors: list[CapabilityValidationError] = []
    for name in sorted(registry.tools):
        tool = registry.tools[name]
        gaps = _gaps(tool, acting)
        why = _why_hidden(tool, allowed=allowed, gaps=gaps, existing=existing) or _why_hidden_here(tool, acting)
        if why is None:
            visible[name] = tool
        else:
            hidden.append(why)
        if gaps and allowed.matches(name):
            errors.extend(gaps)
    return ToolView(
        agent=agent,
        binding=binding,
        acting=acting,
        visible=MappingProxyType(visible),
        hidden=tuple(hidden),
        errors=tuple(errors),
    )


def _gaps(tool: RegisteredTool, acting: Acting) -> tuple[CapabilityValidationError, ...]:
    """What the agent does not permit; where it permits all, what its binding does not."""
    found = misfits(tool.name, tool.tool.needs, permits=acting.agent.permits)
    if found or acting.binding is None:
        return found
    return misfits(tool.name, tool.tool.needs, permits=acting.permits, whose=f"the binding `{acting.binding.name}`'s")


def _why_hidden_here(tool: RegisteredTool, acting: Acting) -> Hidden | None:
    if acting.binding is None or acting.sees(tool.name):
        return None
    message = f"no pattern in `allowed_tools` of the binding `{acting.binding.name}` matches it"
    return Hidden(tool=tool.name, reason="not_allowed", message=message)


def _why_hidden(
    tool: RegisteredTool,
    *,
    allowed: GlobSet,
    gaps: tuple[CapabilityValidationError, ...],
    existing: frozenset[Requirement],
) -> Hidden | None:
    if tool.quarantine:
        return Hidden(tool=tool.name, reason=tool.quarantine, message=_OUT_OF_USE[tool.quarantine])
    if not allowed.matches(tool.name):
        return Hidden(tool=tool.name, reason="not_allowed", message="no pattern in `allowed_tools` matches it")
    if gaps:
        return Hidden(tool=tool.name, reason="capability_misfit", message="; ".join(gap.message for gap in gaps))
    missing = [str(needed) for needed in tool.tool.available if needed not in existing]
    if missing:
        return Hidden(tool=tool.name, reason="not_available", message=f"missing on this host: {', '.join(missing)}")
    return None
