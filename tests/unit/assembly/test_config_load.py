"""What a config means once it is understood: defaults that refuse, domain values, places, a digest."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from ringfence.agents.profile import Agent, Permits
from ringfence.approvals.people import Electorate, Person
from ringfence.assembly.config import Config, load_config
from ringfence.assembly.config.model import AuditFiles, SandboxChoice, SecretPlace, ToolModules
from ringfence.contract.capabilities import Files, Network, Processes, Secrets
from ringfence.contract.hosts import allows
from ringfence.contract.limits import Limits
from ringfence.errors import Misuse

pytestmark = pytest.mark.req("VIEW-1")

WHOLE = """\
version: 1
tools: {modules: [acme.tools], path: [.]}
people:
  alice: {roles: [approver], groups: [treasury]}
  dan: {roles: [approver, operator], groups: [treasury]}
  carol: {roles: [viewer]}
agents:
  ana:
    owner: carol
    allowed_tools: ["crm_*", send_email]
    workspace: ./homes/ana
    network: {allow: ["*.crm.example", "db.example:5432"], cidrs: [203.0.113.0/24]}
    files: {read: [knowledge/], write: [outbox]}
    secrets: {allow: [SENDGRID_KEY]}
    processes: {allow: [git]}
policy:
  rules:
    - match: {tool: send_email, class: [network, "fin*"]}
      when: {args.subject: {len_gt: 100}}
      decision: approve
      because: long subjects are reviewed
approvals: {expire: 90m, routes: {human: {group: treasury}, dual: {group: treasury}}}
secrets: {SENDGRID_KEY: {env: SENDGRID}}
sandbox: {kind: local, env: [TZ], limits: {cpu_seconds: 2.5}, pool: {spares: 2}}
store: {url: "sqlite:///var/calls.db"}
audit: {anchor: /mnt/anchor.log, signing_key: keys/audit.key}
"""


def load(folder: Path, text: str) -> Config:
    file = folder / "ringfence.yaml"
    file.write_text(text, encoding="utf-8")
    return load_config(file)


def test_a_whole_file_becomes_the_values_that_the_stages_take(tmp_path: Path) -> None:
    config = load(tmp_path, WHOLE)
    assert config.warnings == ()
    assert (config.root, config.file) == (tmp_path, tmp_path / "ringfence.yaml")
    assert config.tools == ToolModules(modules=("acme.tools",), path=(tmp_path,))
    assert dict(config.agents) == {
        "ana": Agent(
            name="ana",
            owner="carol",
            allowed_tools=("crm_*", "send_email"),
            permits=Permits(
                network=Network("*.crm.example", "db.example:5432", cidrs=("203.0.113.0/24",)),
                secrets=Secrets.permit("SENDGRID_KEY"),
                files=Files(read=("knowledge",), write=("outbox",)),
                processes=Processes("git"),
            ),
            workspace=str(tmp_path / "homes/ana"),
        )
    }
    assert config.electorate == Electorate(
        people={
            "alice": Person(name="alice", roles=frozenset({"approver"}), groups=frozenset({"treasury"})),
            "dan": Person(name="dan", roles=frozenset({"approver", "operator"}), groups=frozenset({"treasury"})),
            "carol": Person(name="carol", roles=frozenset({"viewer"}), groups=frozenset()),
        },
        groups={"human": "treasury", "dual": "treasury"},
    )
    assert config.approvals_expire == timedelta(minutes=90)
    assert dict(config.secrets) == {"SENDGRID_KEY": SecretPlace(kind="env", at="SENDGRID")}
    limits = Limits(wall_seconds=30, cpu_seconds=2.5, memory_mb=256, pids=64, disk_mb=64, output_kb=1024)
    assert config.sandbox == SandboxChoice(kind="local", env=("TZ",), limits=limits, spares=2)
    assert (config.store_file, config.state) == (tmp_path / "var/calls.db", tmp_path / "var")
    assert config.audit == AuditFiles(anchor=Path("/mnt/anchor.log"), signing_key=tmp_path / "keys/audit.key")


def test_what_is_left_out_permits_nothing_and_runs_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    config = load_config({"version": 1, "agents": {"ana": {"allowed_tools": ["x"]}}})
    assert (config.root, config.file) == (tmp_path, None)
    assert config.agents["ana"].permits == Permits()
    assert config.agents["ana"].owner is None
    assert config.agents["ana"].workspace == str(tmp_path / "state/work/ana")
    assert config.rules == ()
    assert config.approvals_expire == timedelta(hours=24)
    limits = Limits(wall_seconds=30, cpu_seconds=5, memory_mb=256, pids=64, disk_mb=64, output_kb=1024)
    assert config.sandbox == SandboxChoice(kind="deny", env=(), limits=limits, spares=4)
    assert config.store_file == tmp_path / "state/ringfence.db"
    assert config.audit == AuditFiles(anchor=tmp_path / "state/anchor.log", signing_key=tmp_path / "state/audit.key")


@pytest.mark.req("NET-3")
@pytest.mark.parametrize("network", [{}, {"allow": []}, {"allow": [], "cidrs": []}])
def test_an_empty_host_list_allows_nothing(network: dict[str, Any]) -> None:
    config = load_config({"version": 1, "agents": {"ana": {"allowed_tools": ["x"], "network": network}}})
    permitted = config.agents["ana"].permits.network
    assert permitted.is_empty
    assert not allows(permitted.hosts, "example.com", 443)


def test_a_config_is_given_back_as_it_is() -> None:
    config = load_config({"version": 1})
    assert load_config(config) is config


@pytest.mark.parametrize("given", [None, 7, b"ringfence.yaml", ["version"]])
def test_what_is_no_config_at_all_is_misuse(given: Any) -> None:
    with pytest.raises(Misuse):
        load_config(given)


def test_an_absolute_store_has_four_slashes() -> None:
    assert load_config({"version": 1, "store": {"url": "sqlite:////srv/r.db"}}).store_file == Path("/srv/r.db")


def test_later_changes_to_the_dict_change_nothing() -> None:
    given: dict[str, Any] = {"version": 1, "agents": {"ana": {"allowed_tools": ["x"]}}}
    config = load_config(given)
    given["agents"]["ana"]["allowed_tools"].append("*")
    given["agents"]["eve"] = {"allowed_tools": []}
    assert [agent.allowed_tools for agent in config.agents.values()] == [("x",)]


def test_a_loaded_config_cannot_be_changed() -> None:
    config = load_config({"version": 1, "agents": {"ana": {"allowed_tools": ["x"]}}})
    with pytest.raises(TypeError):
        cast(dict[str, Any], config.agents)["eve"] = config.agents["ana"]
    with pytest.raises(AttributeError):
        config.sandbox.kind = "local"  # type: ignore[misc]


def test_the_digest_names_what_is_said_and_not_how_it_is_written(tmp_path: Path) -> None:
    one = load(tmp_path, "version: 1\nagents: {ana: {allowed_tools: [x], network: {allow: [a.example]}}}\n")
    agents: Mapping[str, Any] = {"ana": {"network": {"allow": ("a.example",), "cidrs": ()}, "allowed_tools": ["x"]}}
    assert load_config({"agents": agents, "version": 1, "approvals": {"expire": "24h"}}).digest == one.digest
    assert load_config({"agents": agents, "version": 1, "approvals": {"expire": "25h"}}).digest != one.digest
    assert one.digest.startswith("sha256:")


def test_a_key_is_located_by_file_line_and_column(tmp_path: Path) -> None:
    config = load(tmp_path, WHOLE)
    assert config.locate(("policy", "rules", 0)) == f"{tmp_path}/ringfence.yaml:18:7: `policy.rules[0]`"
    assert config.locate(("policy", "rules", 0, "holds", 3)).endswith(":18:7: `policy.rules[0].holds[3]`")
    assert load_config({"version": 1}).locate(("agents", "ana")) == "`agents.ana`"


def warnings(**keys: Any) -> list[str]:
    config = {"version": 1, "agents": {"ana": {"allowed_tools": ["x"]}}, **keys}
    return [str(problem) for problem in load_config(config).warnings]


def test_an_agent_that_may_see_every_tool_is_warned_about() -> None:
    assert warnings(agents={"ana": {"allowed_tools": []}}) == [
        "`agents.ana.allowed_tools`: `[]` allows every registered tool that fits the agent's permits"
    ]


@pytest.mark.req("APR-4")
@pytest.mark.parametrize(("voters", "warned"), [(0, ["human", "dual"]), (1, ["dual"]), (2, [])])
def test_a_route_that_could_never_find_its_votes_is_warned_about(voters: int, warned: list[str]) -> None:
    people = {f"p{number}": {"roles": ["approver"], "groups": ["treasury"]} for number in range(voters)}
    people |= {"viewer": {"roles": ["viewer"], "groups": ["treasury"]}}
    routes = {"human": {"group": "treasury"}, "dual": {"group": "treasury"}}
    found = warnings(people=people, approvals={"routes": routes})
    assert [line.partition(":")[0] for line in found] == [f"`approvals.routes.{name}.group`" for name in warned]


@pytest.mark.parametrize(
    ("keys", "warning"),
    [
        ({"agents": {}}, "`agents`: there are no agents, so nothing can be called"),
        ({"sandbox": {"pool": {}}}, "`sandbox`: `kind` is not set, so nothing runs; write `kind: local`"),
        (
            {"agents": {"ana": {"allowed_tools": ["x"], "secrets": {"allow": ["KEY"]}}}},
            "`agents.ana.secrets.allow[0]`: no such secret under `secrets`, so tools that need it are not available",
        ),
        (
            {"policy": {"rules": [{"match": {"agent": "anna"}, "decision": "deny", "because": "y"}]}},
            "`policy.rules[0].match.agent`: `anna` matches no agent; did you mean `ana`?",
        ),
    ],
)
def test_what_is_valid_and_hardly_meant_is_a_warning(keys: dict[str, Any], warning: str) -> None:
    assert warnings(**keys) == [warning]


def _big() -> str:
    agents = "".join(
        f"  agent{n}:\n    owner: alice\n    allowed_tools: [crm_*, t{n}]\n    network: {{allow: [a{n}.example]}}\n"
        "    files: {read: [knowledge], write: [outbox]}\n"
        for n in range(100)
    )
    rules = "".join(
        f"    - match: {{tool: t{n}}}\n      when: {{args.a: {{gt: {n}}}, args.b: {{matches: '^a{n}'}}}}\n"
        f"      decision: approve\n      because: reason {n}\n"
        for n in range(100)
    )
    return f"version: 1\npeople: {{alice: {{roles: [viewer]}}}}\nagents:\n{agents}policy:\n  rules:\n{rules}"


def test_a_hundred_agents_and_a_hundred_rules_load_in_well_under_a_second(tmp_path: Path) -> None:
    text = _big()
    began = time.process_time()
    config = load(tmp_path, text)
    assert time.process_time() - began < 0.5
    assert (len(config.agents), len(config.rules)) == (100, 100)
