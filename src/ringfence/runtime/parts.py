"""What the pipeline is assembled from: protocols and values, named by nobody but the assembly.

Takes: concrete parts.  Gives: one frozen bundle.  Never: has a default that lets anything pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from ringfence.agents.accounts import NO_ACCOUNTS, Accounts
from ringfence.agents.profile import Agent
from ringfence.agents.view import ToolView, build_view
from ringfence.approvals.inbox import Inbox
from ringfence.approvals.people import Electorate
from ringfence.approvals.standing import Grants
from ringfence.audit.sealing import Seal
from ringfence.audit.trail import Trail
from ringfence.contract.limits import Limits
from ringfence.contract.requirements import Requirement
from ringfence.errors import Misuse
from ringfence.execution.cost import NO_PRICES, Prices
from ringfence.execution.sandbox import Sandbox
from ringfence.execution.storage import KeyValue
from ringfence.execution.strongbox import Strongbox
from ringfence.policy.profiles import NO_PROFILES, Profiles
from ringfence.policy.rules import RuleBook
from ringfence.registry.registry import Registry
from ringfence.runtime.freezing import Freezes
from ringfence.runtime.invocation import Journal, Workers
from ringfence.runtime.ledger import Board, PinBook
from ringfence.runtime.rejections import Rejections
from ringfence.runtime.running import Running
from ringfence.runtime.sight import Sight


class Sessions(Protocol):
    """Where conversations are kept, so that any process can continue one."""

    async def open_session(self, session_id: str, *, agent: str, binding: str | None, user: str | None) -> None:
        """Keep a new session, or check that a known one is still the same agent's, binding's and user's."""
        ...


class Store(Journal, Workers, Inbox, Trail, Sessions, PinBook, Grants, Freezes, Protocol):
    """Everything that is kept, behind one object."""

    @property
    def storage(self) -> KeyValue:
        """The rows that tools keep."""
        ...

    async def close(self) -> None:
        """Finish what is under way and let go of the files."""
        ...


@dataclass(frozen=True, kw_only=True)
class Rulings:
    """What the configuration settles: who may see, do and approve what."""

    agents: Mapping[str, Agent]
    rules: RuleBook
    electorate: Electorate
    limits: Limits
    approval_lifetime: timedelta
    config_digest: str
    rule_digests: Mapping[str, str] = field(default_factory=dict[str, str])
    retention: timedelta | None = None
    accounts: Accounts = NO_ACCOUNTS
    profiles: Profiles = NO_PROFILES
    prices: Prices = NO_PRICES


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Everything the pipeline needs."""

    board: Board
    rulings: Rulings
    store: Store
    sandbox: Sandbox
    seal: Seal
    now: Callable[[], datetime]
    existing: frozenset[Requirement]
    strongbox: Strongbox = field(default_factory=Strongbox)
    running: Running = field(default_factory=Running)
    rejections: Rejections = field(default_factory=Rejections)
    _sights: dict[tuple[str, str | None], Sight] = field(default_factory=dict[tuple[str, str | None], Sight])

    @property
    def registry(self) -> Registry:
        """The tools as the record saw them when this process last looked; `board.refresh` looks."""
        return self.board.registry

    def agent(self, name: str) -> Agent:
        found = self.rulings.agents.get(name)
        if found is None:
            raise Misuse(f"there is no agent `{name}`", remedy="name one of the agents in the config file")
        return found

    def view(self, agent: str, binding: str | None) -> ToolView:
        """What this agent can see."""
        return self.sight(agent, binding).view

    def sight(self, agent: str, binding: str | None) -> Sight:
        """The same, with the terms of its tools; built once and kept until the registry is another."""
        key, registry = (agent, binding), self.board.registry
        found = self._sights.get(key)
        if found is None or found.registry is not registry:
            view = build_view(
                registry,
                agent=self.agent(agent),
                binding=binding,
                accounts=self.rulings.accounts,
                existing=self.existing,
            )
            found = Sight(view, registry=registry, ceiling=self.rulings.limits)
            self._sights[key] = found
        return found
