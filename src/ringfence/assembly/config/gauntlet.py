"""The gauntlet: every binding, account, credential and profile of the file, held against each other in one pass.

Takes: values that have their shape.  Gives: errors where an agent would act as somebody it may not be, else warnings.
Never: looks outside the file; whether a credential's file is private, `exposure` sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ringfence.agents.bindings import binding_name
from ringfence.assembly.config.cross import section, usable
from ringfence.assembly.config.plain import INVALID
from ringfence.assembly.config.problems import KeyPath, Report, shown
from ringfence.assembly.config.suggest import did_you_mean
from ringfence.policy.profiles import GROUP

Values = Mapping[str, Any]
_PROFILE_LISTS = ("allow", "deny", "requires_approval")


def run_gauntlet(values: Values, *, report: Report) -> None:
    """Whether every agent acts on channels that are its own, as nobody but itself."""
    accounts = {binding_name(*path[1:]): (path, account) for path, account in _accounts(values)}
    for path, account in accounts.values():
        _check_account(path, account, values=values, report=report)
    _check_own_credentials(accounts, report=report)
    _check_by_account(values, accounts=accounts, report=report)
    for name, agent in usable(section(values, "agents")):
        _check_bindings(name, agent, values=values, report=report)
        _check_secrets(name, agent, values=values, accounts=accounts, report=report)
        _check_recipients(("agents", name), agent, report=report)
        _check_name(
            agent.get("profile"), kind="profiles", values=values, path=("agents", name, "profile"), report=report
        )
    _check_used(accounts, values=values, report=report)
    _check_groups(values, report=report)


def _accounts(values: Values) -> Iterator[tuple[tuple[str, str, str], Any]]:
    for channel, instances in usable(section(values, "accounts")):
        for instance, account in usable(instances):
            yield ("accounts", channel, instance), account


def _check_account(path: KeyPath, account: Values, *, values: Values, report: Report) -> None:
    for at, agent in usable(section(account, "agents")):
        _check_name(agent, kind="agents", values=values, path=(*path, "agents", at), report=report)
    _check_name(account.get("credential"), kind="secrets", values=values, path=(*path, "credential"), report=report)


def _check_name(name: Any, *, kind: str, values: Values, path: KeyPath, report: Report) -> None:
    known = section(values, kind)
    if isinstance(name, str) and name not in known:
        report.error(path, f"`{shown(name)}` is not under `{kind}`", remedy=did_you_mean(name, known=known))


def _check_own_credentials(accounts: Mapping[str, tuple[KeyPath, Any]], *, report: Report) -> None:
    first: dict[str, str] = {}
    for name, (path, account) in accounts.items():
        credential = account.get("credential")
        if isinstance(credential, str) and first.setdefault(credential, name) != name:
            message = f"`{credential}` also signs in as `{first[credential]}`, so who may act as one may act as both"
            report.error((*path, "credential"), message, remedy="give each account a credential of its own")


def _check_by_account(values: Values, *, accounts: Mapping[str, tuple[KeyPath, Any]], report: Report) -> None:
    """A secret that is the credential of accounts: their channel exists, and none of them signs in with it."""
    for name, secret in usable(section(values, "secrets")):
        channel = secret.get("account")
        if channel is None:
            continue
        if channel not in section(values, "accounts"):
            known = list(section(values, "accounts"))
            message = f"there is no channel `{shown(channel)}` under `accounts`"
            report.error(("secrets", name, "account"), message, remedy=did_you_mean(channel, known=known))
        for path, account in accounts.values():
            if account.get("credential") == name:
                message = f"`{name}` is itself the credential of an account, whichever acts"
                report.error((*path, "credential"), message, remedy="name a secret that has a value of its own")


def _check_bindings(name: str, agent: Values, *, values: Values, report: Report) -> None:
    first: dict[str, int] = {}
    for at, binding in usable(section(agent, "bindings")):
        path = ("agents", name, "bindings", at)
        _check_recipients(path, binding, report=report)
        found = _binding_name(binding)
        if found is None:
            continue
        if first.setdefault(found, at) != at:
            message = f"`{found}` is also binding {first[found]} of this agent"
            report.error(path, message, remedy="join the two into one")
        _check_allowed(name, found, binding, values=values, path=path, report=report)


def _binding_name(binding: Values) -> str | None:
    channel, instance = binding.get("channel"), binding.get("instance")
    if not isinstance(channel, str) or not isinstance(instance, str):
        return None
    return binding_name(channel, instance)


def _check_allowed(agent: str, binding: str, keys: Values, *, values: Values, path: KeyPath, report: Report) -> None:
    instances = section(section(values, "accounts"), keys["channel"])
    account = instances.get(keys["instance"])
    if account is None:
        known = [binding_name(*where[1:]) for where, _ in _accounts(values)]
        message = f"there is no account `{binding}` under `accounts`"
        report.error(path, message, remedy=did_you_mean(binding, known=known))
    elif account is not INVALID and agent not in section(account, "agents"):
        message = f"the account `{binding}` does not allow the agent `{agent}`"
        report.error(path, message, remedy=f"add it to `accounts.{keys['channel']}.{keys['instance']}.agents`")


def _check_secrets(
    name: str, agent: Values, *, values: Values, accounts: Mapping[str, tuple[KeyPath, Any]], report: Report
) -> None:
    own = {_binding_name(binding) for _, binding in usable(section(agent, "bindings"))}
    holders = {account.get("credential"): holder for holder, (_, account) in accounts.items()}
    channels = {binding.get("channel") for _, binding in usable(section(agent, "bindings"))}
    by_account = {each: secret.get("account") for each, secret in usable(section(values, "secrets"))}
    for at, secret in usable(section(section(agent, "secrets"), "allow")):
        holder = holders.get(secret)
        if holder is not None and holder not in own:
            message = f"`{secret}` signs in as `{holder}`, and the agent has no such binding"
            report.error(("agents", name, "secrets", "allow", at), message, remedy="leave it out, or bind the agent")
        channel = by_account.get(secret)
        if channel is not None and channel not in channels:
            message = f"`{secret}` is the credential of an account on `{channel}`, and the agent has no binding there"
            report.error(("agents", name, "secrets", "allow", at), message, remedy="leave it out, or bind the agent")


def _check_recipients(path: KeyPath, holder: Values, *, report: Report) -> None:
    for channel, patterns in usable(section(holder, "outbound_allowlist")):
        for at, pattern in usable(patterns):
            if pattern == "*":
                report.warn((*path, "outbound_allowlist", channel, at), "`*` allows every recipient")


def _check_used(accounts: Mapping[str, tuple[KeyPath, Any]], *, values: Values, report: Report) -> None:
    used = {
        _binding_name(binding)
        for _, agent in usable(section(values, "agents"))
        for _, binding in usable(section(agent, "bindings"))
    }
    for name, (path, _) in accounts.items():
        if name not in used:
            report.warn(path, f"no agent has a binding `{name}`, so nobody acts with this account")


def _check_groups(values: Values, *, report: Report) -> None:
    for name, profile in usable(section(values, "profiles")):
        groups = section(profile, "groups")
        for key in _PROFILE_LISTS:
            for at, pattern in usable(section(profile, key) or []):
                group = pattern.removeprefix(GROUP)
                if group != pattern and group not in groups:
                    remedy = did_you_mean(group, known=groups)
                    report.error(("profiles", name, key, at), f"`{group}` is no group of this profile", remedy=remedy)
