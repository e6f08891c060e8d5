"""What one part of the file says about another: owners, groups, agents in rules, secrets.

Takes: values that have their shape.  Gives: errors where a name leads nowhere and safety hangs on it, else warnings.
Never: looks outside the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from ringfence.assembly.config.plain import INVALID, is_mapping
from ringfence.assembly.config.problems import KeyPath, Report, shown
from ringfence.assembly.config.suggest import did_you_mean
from ringfence.contract.interpreters import interpreter
from ringfence.contract.patterns import glob

Values = Mapping[str, Any]
_VOTES = {"human": 1, "dual": 2}


def cross_check(values: Values, *, report: Report) -> None:
    """Every name that one part of the file gives and another must know."""
    _agents(values, report=report)
    _routes(values, report=report)
    _rules(values, report=report)
    _sandbox(values, report=report)


def usable(values: Any) -> Iterator[tuple[Any, Any]]:
    """Names or positions with their values, less those that the shape check refused."""
    pairs: Iterable[tuple[Any, Any]] = values.items() if is_mapping(values) else enumerate(cast("list[Any]", values))
    return ((key, value) for key, value in pairs if value is not INVALID)


def section(values: Any, name: str) -> Any:
    """A mapping of the file, empty where it could not be used."""
    found = values.get(name, INVALID)
    return {} if found is INVALID else found


def _agents(values: Values, *, report: Report) -> None:
    agents = section(values, "agents")
    if not agents and values.get("agents") is not INVALID:
        report.warn(("agents",), "there are no agents, so nothing can be called")
    for name, agent in usable(agents):
        path = ("agents", name)
        _known(agent.get("owner"), values=values, kind="people", path=(*path, "owner"), report=report)
        if agent.get("allowed_tools") == []:
            report.warn((*path, "allowed_tools"), "`[]` allows every registered tool that fits the agent's permits")
        for at, secret in usable(section(section(agent, "secrets"), "allow")):
            if secret not in section(values, "secrets"):
                where = (*path, "secrets", "allow", at)
                report.warn(where, "no such secret under `secrets`, so tools that need it are not available")
        for at, binary in usable(section(section(agent, "processes"), "allow")):
            if (reason := interpreter(binary)) is not None:
                report.warn(
                    (*path, "processes", "allow", at), f"`{shown(binary)}` {reason}: it can do more than its name"
                )


def _known(name: Any, *, values: Values, kind: str, path: KeyPath, report: Report) -> None:
    if isinstance(name, str) and name not in section(values, kind):
        remedy = did_you_mean(name, known=section(values, kind))
        report.error(path, f"`{shown(name)}` is not under `{kind}`", remedy=remedy)


def _routes(values: Values, *, report: Report) -> None:
    people = [person for _, person in usable(section(values, "people")) if "approver" in section(person, "roles")]
    for name, route in usable(section(section(values, "approvals"), "routes")):
        group = route.get("group", INVALID)
        voters = sum(1 for person in people if group in section(person, "groups"))
        if group is not INVALID and voters < _VOTES[name]:
            report.warn(
                ("approvals", "routes", name, "group"),
                f"`{group}` has {voters} approvers and the route needs {_VOTES[name]}, so such calls are refused",
                remedy=f"give people the role `approver` and the group `{group}`",
            )


def _rules(values: Values, *, report: Report) -> None:
    first: dict[str, int] = {}
    for at, rule in usable(section(section(values, "policy"), "rules")):
        path = ("policy", "rules", at)
        name = rule.get("id", INVALID)
        if name is not INVALID and first.setdefault(name, at) != at:
            report.error((*path, "id"), f"`{name}` is also the id of rule {first[name]}", remedy="use an id once")
        _matched_agents(rule, values=values, path=path, report=report)
        for kind in ("holds", "not_holds"):
            for number, example in usable(section(rule, kind)):
                where = (*path, kind, number, "agent")
                _known(example.get("agent"), values=values, kind="agents", path=where, report=report)


def _matched_agents(rule: Values, *, values: Values, path: KeyPath, report: Report) -> None:
    globs = [pattern for _, pattern in usable(section(section(rule, "match"), "agent"))]
    agents = section(values, "agents")
    for pattern in globs:
        if not any(map(glob(pattern), agents)):
            remedy = did_you_mean(pattern, known=agents)
            report.warn((*path, "match", "agent"), f"`{pattern}` matches no agent", remedy=remedy)


def _sandbox(values: Values, *, report: Report) -> None:
    if report.places.written(("sandbox",)) and not report.places.written(("sandbox", "kind")):
        report.warn(("sandbox",), "`kind` is not set, so nothing runs", remedy="write `kind: local`")
    holders = {secret.get("env"): name for name, secret in usable(section(values, "secrets"))}
    for at, variable in usable(section(section(values, "sandbox"), "env")):
        if variable in holders:
            message = f"`{variable}` holds the secret `{holders[variable]}`, which must not enter a jail"
            report.error(("sandbox", "env", at), message, remedy="leave it out")
