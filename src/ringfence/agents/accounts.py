"""Which account a call acts with: settled by agent and binding, never by an argument.

Takes: the channel instances of the config file.  Gives: the account of one agent on one binding.
Never: hands one account's credential to a call that acts with another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ringfence.agents.bindings import Binding, binding_name
from ringfence.errors import CallRefused


@dataclass(frozen=True, kw_only=True)
class Account:
    """One instance of a channel: who may act with it, and the name of the secret that it signs in with."""

    channel: str
    instance: str
    agents: frozenset[str]
    credential: str | None = None

    @property
    def name(self) -> str:
        return binding_name(self.channel, self.instance)


@dataclass(frozen=True, kw_only=True)
class Accounts:
    """Every account by its name."""

    by_name: Mapping[str, Account] = field(default_factory=dict[str, Account])

    def of(self, agent: str, *, binding: Binding) -> Account:
        """The account of this agent on this binding; one that does not let the agent in is no account."""
        found = self.by_name.get(binding.name)
        if found is None or agent not in found.agents:
            message = f"no account `{binding.name}` allows the agent `{agent}`"
            raise CallRefused(message, code="not_available", remedy="list the agent under `accounts` for this instance")
        return found

    def credentials_of_others(self, own: Account) -> frozenset[str]:
        """The secrets that sign in as somebody else."""
        theirs = {account.credential for account in self.by_name.values() if account.name != own.name}
        return frozenset(name for name in theirs if name is not None and name != own.credential)


NO_ACCOUNTS = Accounts()
