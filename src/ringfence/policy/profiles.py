"""Profiles: named lists of tools that tighten what an agent may call.

Takes: an agent's profile and a tool's name.  Gives: reasons.
Never: loosens; `deny` wins over `allow`, and a profile that is not there denies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ringfence.contract.fingerprint import canonical, digest
from ringfence.contract.patterns import GlobSet
from ringfence.policy.decision import Decision, Reason

GROUP = "group:"
_NONE = GlobSet(())


class GroupUnknown(ValueError):
    """A list names a group that the profile does not have."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One profile, its groups already spelled out. No `allow` allows everything that nothing else forbids."""

    name: str
    allow: GlobSet | None = None
    deny: GlobSet = _NONE
    requires_approval: GlobSet = _NONE

    def reasons(self, tool: str) -> Iterator[Reason]:
        """What this profile says about a tool."""
        denied = self.deny.first(tool)
        if denied is not None:
            yield self._reason(Decision.DENY, "deny", denied, f"denies `{denied}`")
        if self.allow is not None and not self.allow.matches(tool):
            yield self._reason(Decision.DENY, "allow", "", "does not allow it")
        asked = self.requires_approval.first(tool)
        if asked is not None:
            yield self._reason(Decision.APPROVE, "requires_approval", asked, f"asks for approval of `{asked}`")

    def _reason(self, decision: Decision, key: str, pattern: str, says: str) -> Reason:
        wording = {"profile": self.name, "key": key, "pattern": pattern}
        because = f"profile `{self.name}` {says}"
        return Reason(kind="profile", decision=decision, because=because, digest=digest(canonical(wording)))


@dataclass(frozen=True, kw_only=True)
class Profiles:
    """Every profile by its name."""

    by_name: Mapping[str, Profile] = field(default_factory=dict[str, Profile])

    def reasons(self, profile: str | None, tool: str) -> Iterator[Reason]:
        """What an agent's profile says; an agent without one hears nothing."""
        if profile is None:
            return
        found = self.by_name.get(profile)
        if found is None:
            because = f"the agent's profile `{profile}` does not exist"
            yield Reason(kind="profile", decision=Decision.DENY, because=because)
        else:
            yield from found.reasons(tool)


NO_PROFILES = Profiles()


def spelled_out(patterns: tuple[str, ...], *, groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The patterns with each `group:name` replaced by what the group holds."""
    spelled: list[str] = []
    for pattern in patterns:
        name = pattern.removeprefix(GROUP)
        if name == pattern:
            spelled.append(pattern)
        elif name in groups:
            spelled.extend(groups[name])
        else:
            raise GroupUnknown(f"`{pattern}` names no group of this profile")
    return tuple(spelled)
