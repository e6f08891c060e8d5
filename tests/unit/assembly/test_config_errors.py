"""Every mistake in a config file is reported, all at once, where it stands, with the nearest right word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly.config import load_config
from ringfence.errors import ConfigInvalid

pytestmark = pytest.mark.req("VIEW-1")


def problems(source: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigInvalid) as raised:
        load_config(source)
    assert raised.value.code == "config_invalid"
    return raised.value.problems


def written(folder: Path, text: str) -> str:
    file = folder / "ringfence.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def in_file(folder: Path, text: str) -> list[str]:
    """The problems of a file, less the folder's name."""
    return [line.removeprefix(f"{folder}/") for line in problems(written(folder, text))]


def agent(**keys: Any) -> dict[str, Any]:
    return {"version": 1, "agents": {"ana": {"allowed_tools": ["x"], **keys}}}


MANY = """\
version: 2
tols: {}
people:
  Alice: {roles: [aprover]}
agents:
  ana:
    owner: carol
    allow_tools: [x]
    network: {allow: api.example.com}
policy:
  rules:
    - {match: {tool: x}, decision: alow, because: y}
    - {match: {}, decision: deny}
store:
"""


def test_all_errors_come_in_one_report_in_the_order_of_the_file(tmp_path: Path) -> None:
    assert in_file(tmp_path, MANY) == [
        "ringfence.yaml:1:1: `version`: `2` is not a whole number that this version reads; it must be 1",
        "ringfence.yaml:2:1: `tols`: unknown key `tols`; did you mean `tools`?",
        "ringfence.yaml:4:3: `people`: `Alice` is not a name of lower-case letters, digits, `_` and `-`",
        "ringfence.yaml:7:5: `agents.ana.owner`: `carol` is not under `people`; known are `Alice`",
        "ringfence.yaml:8:5: `agents.ana.allow_tools`: unknown key `allow_tools`; did you mean `allowed_tools`?",
        "ringfence.yaml:9:15: `agents.ana.network.allow`: text where a list is meant; put it in brackets: `[…]`",
        "ringfence.yaml:12:26: `policy.rules[0].decision`: `alow` is none of `allow`, `approve`, `approve_twice`,"
        " `deny`; did you mean `allow`?",
        "ringfence.yaml:13:7: `policy.rules[1]`: the key `because` is missing; it says the reason, as approvers and"
        " audit show it",
        "ringfence.yaml:13:8: `policy.rules[1].match`: needs one of `tool`, `agent`, `binding`, `class`, `egress`",
        "ringfence.yaml:14:1: `store`: nothing where a mapping is meant; leave the key out or give it a value",
    ]


def test_config_from_code_is_reported_by_key_alone() -> None:
    assert problems({"version": 1, "agents": {"ana": {"allow_tools": []}}}) == (
        "`agents.ana.allow_tools`: unknown key `allow_tools`; did you mean `allowed_tools`?",
    )


@pytest.mark.parametrize(
    ("path", "unknown", "meant"),
    [
        ((), "agent", "agents"),
        ((), "polciy", "policy"),
        (("sandbox",), "limit", "limits"),
        (("sandbox", "limits"), "cpu", "cpu_seconds"),
        (("approvals",), "expires", "expire"),
        (("audit",), "signing-key", "signing_key"),
        (("agents", "ana"), "Workspace", "workspace"),
        (("agents", "ana", "files"), "reads", "read"),
    ],
)
def test_an_unknown_key_is_an_error_with_the_nearest_known_one(path: tuple[str, ...], unknown: str, meant: str) -> None:
    config: dict[str, Any] = agent()
    at = config
    for key in path:
        at = at.setdefault(key, {})
    at[unknown] = {}
    spelt = ".".join((*path, unknown))
    assert problems(config) == (f"`{spelt}`: unknown key `{unknown}`; did you mean `{meant}`?",)


def test_where_no_key_is_near_all_are_named() -> None:
    assert problems(agent(network={"ports": []})) == (
        "`agents.ana.network.ports`: unknown key `ports`; known are `allow`, `private`, `cidrs`",
    )


@pytest.mark.parametrize(
    "key", ["tools", "people", "agents", "policy", "approvals", "secrets", "sandbox", "store", "audit"]
)
def test_a_key_without_a_value_is_an_error_and_not_a_default(key: str) -> None:
    assert problems({**agent(), key: None}) == (
        f"`{key}`: nothing where a mapping is meant; leave the key out or give it a value",
    )


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "~\n", "---\n"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    found = in_file(tmp_path, text)
    assert found == ["ringfence.yaml:1:1: nothing where a mapping is meant; write at least `version: 1`"]


@pytest.mark.parametrize("text", ["[]", "just words", "7", "true"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    assert in_file(tmp_path, text)[0].endswith("where a mapping is meant")


@pytest.mark.parametrize("version", [None, 0, 2, True, 1.0, "1", [1]])
def test_only_version_1_is_read(version: object) -> None:
    assert problems({"version": version})[0].startswith("`version`: ")


def test_the_version_is_required() -> None:
    assert problems({}) == ("the key `version` is missing; it says the version of this format: 1",)


def test_an_agent_without_allowed_tools_is_refused() -> None:
    assert problems({"version": 1, "agents": {"ana": {}}})[0].startswith(
        "`agents.ana`: the key `allowed_tools` is missing"
    )


@pytest.mark.parametrize("name", ["Ana", "1a", "a b", "", "-a", "a" * 65, "а", "a/b", "../a", "a\n"])
def test_agents_and_people_have_plain_names(name: str) -> None:
    assert "`agents`: " in problems({"version": 1, "agents": {name: {"allowed_tools": []}}})[0]
    assert "`people`: " in problems({"version": 1, "people": {name: {"roles": []}}})[0]


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        ({"network": {"allow": ["https://a.example"]}}, "network.allow[0]"),
        ({"network": {"allow": ["ok.example", "*"]}}, "network.allow[1]"),
        ({"network": {"allow": ["*.com"]}}, "network.allow[0]"),
        ({"network": {"cidrs": ["10.0.0.1/8"]}}, "network.cidrs[0]"),
        ({"files": {"read": ["/etc"]}}, "files.read[0]"),
        ({"files": {"write": ["a/../../b"]}}, "files.write[0]"),
        ({"secrets": {"allow": ["lower"]}}, "secrets.allow[0]"),
        ({"processes": {"allow": ["a b"]}}, "processes.allow[0]"),
        ({"workspace": "../elsewhere"}, "workspace"),
        ({"workspace": "~/ana"}, "workspace"),
        ({"workspace": ""}, "workspace"),
        ({"allowed_tools": ["crm_[a-z]*"]}, "allowed_tools[0]"),
        ({"allowed_tools": ["!pay"]}, "allowed_tools[0]"),
        ({"allowed_tools": ["{a,b}"]}, "allowed_tools[0]"),
        ({"allowed_tools": [""]}, "allowed_tools[0]"),
        ({"allowed_tools": "crm_*"}, "allowed_tools"),
        ({"allowed_tools": None}, "allowed_tools"),
        ({"allowed_tools": [1]}, "allowed_tools[0]"),
        ({"network": []}, "network"),
    ],
)
def test_each_value_is_judged_by_the_code_that_will_use_it(keys: dict[str, Any], where: str) -> None:
    found = problems(agent(**keys))
    assert [line.partition(": ")[0] for line in found] == [f"`agents.ana.{where}`"]


@pytest.mark.parametrize("expire", ["24", "0h", "-1h", "1.5h", "24 h", "h", "", "1w", "999999999d", 24])
def test_an_expiry_that_is_no_length_of_time_is_refused(expire: object) -> None:
    assert problems({"version": 1, "approvals": {"expire": expire}})[0].startswith("`approvals.expire`: ")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///../x.db",
        "sqlite:///x?mode=ro",
        "mysql:///x",
        "state/x.db",
    ],
)
def test_a_store_that_cannot_be_opened_is_refused(url: str) -> None:
    assert problems({"version": 1, "store": {"url": url}})[0].startswith("`store.url`: ")


@pytest.mark.parametrize(
    "limits",
    [{"pids": 0}, {"memory_mb": -1}, {"memory_mb": 1.5}, {"wall_seconds": 0}, {"pids": True}, {"cpu_seconds": "5"}],
)
def test_a_limit_that_limits_nothing_is_refused(limits: dict[str, Any]) -> None:
    (key,) = limits
    assert problems({"version": 1, "sandbox": {"kind": "local", "limits": limits}})[0].startswith(
        f"`sandbox.limits.{key}`: "
    )


@pytest.mark.parametrize(
    "secret", [{}, {"env": "A", "file": "b"}, {"value": "sk-live-1"}, "sk-live-1", None, ["sk-live-1"]]
)
def test_a_secret_names_one_place_and_its_value_is_never_repeated(secret: object) -> None:
    found = problems({"version": 1, "secrets": {"KEY": secret}})
    assert found[0].startswith("`secrets.KEY")
    assert "sk-live" not in str(found)


def test_what_stands_in_place_of_a_secrets_name_is_not_repeated() -> None:
    found = problems({"version": 1, "secrets": {"sk-live-1": {"env": "A"}}})
    found += problems(agent(secrets={"allow": ["sk-live-1"]}))
    assert "sk-live" not in str(found)


def test_words_from_the_file_are_shown_clipped_and_printable() -> None:
    (found,) = problems({"version": 1, "\x1b[31m" + "x" * 500: 1})
    assert found.isprintable()
    assert len(found) < 500


def test_a_list_from_code_that_holds_python_objects_is_refused() -> None:
    assert problems(agent(allowed_tools={"x"})) == (
        "`agents.ana.allowed_tools`: a Python `set` has no place in a config",
    )
    assert problems({"version": 1, 1: 2}) == ("a key must be text",)


def test_a_mapping_from_code_that_contains_itself_is_refused() -> None:
    config: dict[str, Any] = {"version": 1}
    config["agents"] = config
    assert any("nested too deeply" in line for line in problems(config))


def test_a_report_of_very_many_problems_ends() -> None:
    found = problems({"version": 1, **{f"k{number}": 1 for number in range(5000)}})
    assert found[-1] == "there are more problems than are listed here"
    assert len(found) == 201
