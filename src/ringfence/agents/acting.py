"""One agent on one binding: the most it may reach there, and as whom.

Takes: an agent, the name of a binding, the accounts.  Gives: an `Acting`, each part already narrowed.
Never: is wider than the agent alone, and never opens a session on no channel for an agent that has channels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ringfence.agents.accounts import Account, Accounts
from ringfence.agents.bindings import Binding, Outbound
from ringfence.agents.profile import Agent, Permits
from ringfence.agents.spending import SpendCap
from ringfence.contract.capabilities import Secrets
from ringfence.contract.patterns import GlobSet
from ringfence.contract.remembering import remembered
from ringfence.errors import CallRefused, Misuse


@dataclass(frozen=True, kw_only=True)
class Acting:
    """Who acts, where, as whom; `outbound` are lists of recipients, all of which must agree."""

    agent: Agent
    binding: Binding | None
    account: Account | None
    permits: Permits
    outbound: tuple[Outbound, ...]

    @property
    def account_name(self) -> str | None:
        return self.account.name if self.account else None

    @remembered
    def caps(self) -> tuple[tuple[str, SpendCap], ...]:
        """Every cap, with the binding that it is of; a binding's only add to its agent's, which are of none."""
        own = tuple(("", cap) for cap in self.agent.spend_caps)
        return own if self.binding is None else (*own, *((self.binding.name, cap) for cap in self.binding.spend_caps))

    def sees(self, tool: str) -> bool:
        """Whether the binding leaves this tool in; an empty list leaves everything in."""
        return self.binding is None or GlobSet(self.binding.allowed_tools or ("*",)).matches(tool)


def acting_on(agent: Agent, *, binding: str | None, accounts: Accounts) -> Acting:
    """The agent as it stands on a binding; without one, as the file describes it."""
    if binding is None:
        return Acting(agent=agent, binding=None, account=None, permits=agent.permits, outbound=(agent.outbound,))
    found = find_binding(agent, binding)
    account = accounts.of(agent.name, binding=found)
    permits = _less(agent.permits.on(found), barred=accounts.credentials_of_others(account))
    lists = (agent.outbound,) if found.outbound is None else (agent.outbound, found.outbound)
    return Acting(agent=agent, binding=found, account=account, permits=permits, outbound=lists)


def find_binding(agent: Agent, name: str) -> Binding:
    """The agent's binding of this name; any other is a mistake of whoever opened the session."""
    found = next((each for each in agent.bindings if each.name == name), None)
    if found is None:
        raise Misuse(f"agent `{agent.name}` has no binding `{name}`", remedy=_remedy(agent))
    return found


def require_binding(agent: Agent, name: str | None) -> None:
    """Refuse a session that would act on no channel, or on one that is not the agent's."""
    if name is not None:
        find_binding(agent, name)
    elif agent.bindings:
        message = f"agent `{agent.name}` has bindings, and the session names none"
        raise CallRefused(message, code="binding_required", remedy=_remedy(agent))


def _remedy(agent: Agent) -> str:
    if not agent.bindings:
        return f"leave the binding out, or list it under `agents.{agent.name}.bindings`"
    return f"name one of {', '.join(f'`{each.name}`' for each in agent.bindings)}"


def _less(permits: Permits, *, barred: frozenset[str]) -> Permits:
    left = (name for name in permits.secrets.names if name not in barred)
    return replace(permits, secrets=Secrets.permit(*left))
