"""Valid values to the domain's own: agents with permits, an electorate, compiled rules.

Takes: values that passed every check.  Gives: a `Config`.  Never: reports anything; what could be wrong was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

from ringfence.agents.profile import Agent, Permits
from ringfence.agents.spending import read_cap
from ringfence.approvals.people import Electorate, Person
from ringfence.assembly.config.channels import (
    build_accounts,
    build_binding,
    build_profiles,
    files,
    network,
    outbound,
    processes,
    rates,
    secrets,
)
from ringfence.assembly.config.folders import from_root, store_file, workspace
from ringfence.assembly.config.model import AuditFiles, Config, SandboxChoice, SecretKind, SecretPlace, ToolModules
from ringfence.assembly.config.problems import Report
from ringfence.assembly.config.store_urls import without_password
from ringfence.assembly.config.texts import read_because, read_duration, read_retention
from ringfence.contract.fingerprint import canonical, digest
from ringfence.contract.limits import Limits
from ringfence.execution.cost import Prices
from ringfence.execution.storage import StorageQuota
from ringfence.policy.decision import Decision
from ringfence.policy.rules import Example, Rule, compile_rule

Values = Mapping[str, Any]


def build(values: Values, *, root: Path, file: Path | None, report: Report) -> Config:
    """The config that the values describe."""
    rules = values["policy"]["rules"]
    audit = values["audit"]
    return Config(
        root=root,
        file=file,
        digest=_digest(values),
        tools=ToolModules(
            modules=tuple(values["tools"]["modules"]),
            path=tuple(from_root(folder, root=root) for folder in values["tools"]["path"]),
            folders=tuple(from_root(folder, root=root) for folder in values["tools"]["folders"]),
        ),
        pins_code=values["pins"]["code"],
        agents=MappingProxyType({name: _agent(name, values, root=root) for name in values["agents"]}),
        accounts=build_accounts(values),
        profiles=build_profiles(values),
        electorate=_electorate(values),
        rules=tuple(map(_rule, rules)),
        rule_ids=tuple(rule.get("id") for rule in rules),
        approvals_expire=read_duration(values["approvals"]["expire"]),
        secrets=MappingProxyType({name: _secret(secret, root=root) for name, secret in values["secrets"].items()}),
        sandbox=_sandbox(values["sandbox"]),
        storage=_storage(values["storage"]),
        prices=Prices(**{name: Decimal(str(price)) for name, price in values["cost"].items()}),
        store_url=values["store"]["url"],
        store_file=store_file(values, root=root),
        audit=AuditFiles(
            anchor=from_root(audit["anchor"], root=root),
            signing_key=from_root(audit["signing_key"], root=root),
            retention=read_retention(audit["retention"]) if "retention" in audit else None,
        ),
        warnings=report.warnings,
        places=report.places,
    )


def _digest(values: Values) -> str:
    store = {**values["store"], "url": without_password(values["store"]["url"])}
    return digest(canonical({**values, "store": store}))


def _agent(name: str, values: Values, *, root: Path) -> Agent:
    agent = values["agents"][name]
    return Agent(
        name=name,
        owner=agent.get("owner"),
        allowed_tools=tuple(agent["allowed_tools"]),
        permits=Permits(
            network=network(agent["network"]),
            secrets=secrets(agent["secrets"]),
            files=files(agent["files"]),
            processes=processes(agent["processes"]),
        ),
        workspace=str(workspace(name, values, root=root)),
        outbound=outbound(agent["outbound_allowlist"]),
        rates=rates(agent["tool_rate_limits"]),
        spend_caps=tuple(map(read_cap, agent["spend_caps"])),
        profile=agent.get("profile"),
        bindings=tuple(map(build_binding, agent["bindings"])),
    )


def _electorate(values: Values) -> Electorate:
    people = {
        name: Person(name=name, roles=frozenset(person["roles"]), groups=frozenset(person["groups"]))
        for name, person in values["people"].items()
    }
    routes = values["approvals"]["routes"]
    return Electorate(
        people=MappingProxyType(people),
        groups=MappingProxyType({name: route["group"] for name, route in routes.items()}),
    )


def _rule(rule: Values) -> Rule:
    return compile_rule(
        match={name: tuple(globs) for name, globs in rule["match"].items()},
        when=rule["when"],
        decision=Decision[rule["decision"].upper()],
        because=read_because(rule["because"]),
        mode=rule["mode"],
        examples=(*_examples(rule, "holds"), *_examples(rule, "not_holds")),
    )


def _examples(rule: Values, expected: Literal["holds", "not_holds"]) -> Iterator[Example]:
    for example in rule[expected]:
        yield Example(
            tool=example["tool"],
            agent=example.get("agent", ""),
            binding=example.get("binding", ""),
            args=example["args"],
            expected=expected,
        )


def _secret(secret: Values, *, root: Path) -> SecretPlace:
    kind: SecretKind = cast("SecretKind", next(iter(secret)))
    place = secret[kind]
    match kind:
        case "file" | "directory":
            return SecretPlace(kind=kind, at=str(from_root(place, root=root)))
        case "command":
            return SecretPlace(kind="command", at=place[0], argv=tuple(place))
        case "aws":
            return SecretPlace(kind="aws", at=place["secret"], field=place.get("field"), region=place.get("region"))
        case "vault":
            return SecretPlace(kind="vault", at=place["path"], field=place["field"], mount=place["mount"])
        case _:
            return SecretPlace(kind=kind, at=place)


def _sandbox(sandbox: Values) -> SandboxChoice:
    return SandboxChoice(
        kind=sandbox["kind"],
        posture=sandbox["posture"],
        env=tuple(sandbox["env"]),
        limits=Limits(**sandbox["limits"]),
        spares=sandbox["pool"]["spares"],
    )


def _storage(storage: Values) -> StorageQuota:
    return StorageQuota(
        value_bytes=storage["value_kb"] * 1024,
        rows=storage["rows"],
        bytes=storage["scope_kb"] * 1024,
        agent_bytes=storage["agent_kb"] * 1024,
    )
