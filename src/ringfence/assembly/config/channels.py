"""Bindings, accounts and profiles from valid values, and the permits that agents and bindings spell alike.

Takes: values that passed every check.  Gives: the domain's own values.  Never: fills in what a binding leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ringfence.agents.accounts import Account, Accounts
from ringfence.agents.bindings import Binding, Outbound
from ringfence.agents.rates import Rates
from ringfence.agents.spending import read_cap
from ringfence.assembly.config.texts import read_limit
from ringfence.contract.capabilities import Files, Network, Processes, Secrets
from ringfence.contract.patterns import GlobSet
from ringfence.policy.addresses import address_pattern
from ringfence.policy.profiles import Profile, Profiles, spelled_out

Values = Mapping[str, Any]


def network(permit: Values) -> Network:
    return Network.permit(*permit["allow"], cidrs=permit["cidrs"], private=permit["private"])


def secrets(permit: Values) -> Secrets:
    return Secrets.permit(*permit["allow"])


def files(permit: Values) -> Files:
    return Files(read=permit["read"], write=permit["write"])


def processes(permit: Values) -> Processes:
    return Processes(*permit["allow"])


def outbound(lists: Values) -> Outbound:
    """Recipients in the spelling in which addresses are compared."""
    return MappingProxyType(
        {
            channel: tuple(address_pattern(pattern, channel=channel) for pattern in patterns)
            for channel, patterns in lists.items()
        }
    )


def rates(limits: Values) -> Rates:
    return MappingProxyType({pattern: read_limit(text) for pattern, text in limits.items()})


def build_binding(binding: Values) -> Binding:
    return Binding(
        channel=binding["channel"],
        instance=binding["instance"],
        allowed_tools=tuple(binding["allowed_tools"]),
        network=network(binding["network"]) if "network" in binding else None,
        secrets=secrets(binding["secrets"]) if "secrets" in binding else None,
        files=files(binding["files"]) if "files" in binding else None,
        processes=processes(binding["processes"]) if "processes" in binding else None,
        outbound=outbound(binding["outbound_allowlist"]) if "outbound_allowlist" in binding else None,
        rates=rates(binding["tool_rate_limits"]),
        spend_caps=tuple(map(read_cap, binding["spend_caps"])),
    )


def build_accounts(values: Values) -> Accounts:
    found = [
        Account(
            channel=channel,
            instance=instance,
            agents=frozenset(account["agents"]),
            credential=account.get("credential"),
        )
        for channel, instances in values["accounts"].items()
        for instance, account in instances.items()
    ]
    return Accounts(by_name=MappingProxyType({account.name: account for account in found}))


def build_profiles(values: Values) -> Profiles:
    found = {name: _profile(name, profile) for name, profile in values["profiles"].items()}
    return Profiles(by_name=MappingProxyType(found))


def _profile(name: str, profile: Values) -> Profile:
    groups = {group: tuple(patterns) for group, patterns in profile["groups"].items()}

    def listed(key: str) -> GlobSet:
        return GlobSet(spelled_out(tuple(profile[key]), groups=groups))

    return Profile(
        name=name,
        allow=listed("allow") if "allow" in profile else None,
        deny=listed("deny"),
        requires_approval=listed("requires_approval"),
    )
