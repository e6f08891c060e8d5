"""Who may vote on a call: approvers who did not propose it.

Takes: the people of the config file and who proposed.  Gives: the electorate.
Never: counts a proposer, a model, or one person twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ringfence.errors import CallRefused, OperatorRequired
from ringfence.policy.decision import Decision
from ringfence.sanitise import visible

APPROVER = "approver"
OPERATOR = "operator"
_ROUTE_OF = {Decision.APPROVE: "human", Decision.APPROVE_TWICE: "dual"}


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody the config file knows."""

    name: str
    roles: frozenset[str]
    groups: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Electorate:
    """Everybody who could vote, by route; a route may ask for a group."""

    people: Mapping[str, Person]
    groups: Mapping[str, str]

    def group_for(self, decision: Decision) -> str | None:
        return self.groups.get(_ROUTE_OF[decision])

    def voters(self, *, group: str | None, proposers: Iterable[str]) -> frozenset[str]:
        """The approvers of a group who did not propose the call."""
        barred = frozenset(proposers)
        return frozenset(
            person.name
            for person in self.people.values()
            if APPROVER in person.roles and (group is None or group in person.groups) and person.name not in barred
        )

    @property
    def operators(self) -> frozenset[str]:
        """Everybody who may give standing grants and freeze."""
        return frozenset(person.name for person in self.people.values() if OPERATOR in person.roles)

    def require_operator(self, name: str) -> None:
        if name not in self.operators:
            raise OperatorRequired(f"`{visible(name)}` does not have the role `operator`")

    def require(self, decision: Decision, *, proposers: tuple[str, ...]) -> None:
        """Refuse a call for which the votes could never be found."""
        if decision is Decision.APPROVE_TWICE and not proposers:
            raise CallRefused(
                "the call needs two votes, and nobody is known to have proposed it",
                code="no_approvers",
                remedy="give the agent an `owner`, or open the session with a `user`",
            )
        able = self.voters(group=self.group_for(decision), proposers=proposers)
        if len(able) < decision.votes:
            raise CallRefused(
                f"the call needs {decision.votes} votes and {len(able)} people could give one", code="no_approvers"
            )

    def require_still(self, given: Iterable[str], *, decision: Decision, proposers: tuple[str, ...]) -> None:
        """Refuse votes of people who could not give them any more; the call is put to a vote again."""
        able = self.voters(group=self.group_for(decision), proposers=proposers)
        if len(able & frozenset(given)) < decision.votes:
            raise CallRefused("somebody who approved the call may no longer vote on it", code="approval_void")
