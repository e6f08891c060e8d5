"""The editor's schema and the reference page are current, and the schema judges keys as the loader does."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from ringfence.assembly.config import config_schema, load_config
from ringfence.errors import ConfigInvalid
from tests.architecture.source import ROOT

pytestmark = pytest.mark.req("VIEW-1")

RULE: dict[str, Any] = {"match": {"tool": "x"}, "decision": "deny", "because": "y"}
AGENT: dict[str, Any] = {"allowed_tools": ["x"]}

VALID: dict[str, dict[str, Any]] = {
    "least": {},
    "people": {"people": {"alice": {"roles": ["approver"], "groups": ["g"]}}},
    "agent": {"agents": {"ana": {**AGENT, "network": {"allow": ["a.example"]}, "files": {"read": ["."]}}}},
    "rule": {"policy": {"rules": [{**RULE, "when": {"args.a": {"gt": 1}}, "id": "r", "mode": "shadow"}]}},
    "rule with lists": {"policy": {"rules": [{**RULE, "match": {"tool": ["x", "y*"], "class": "read"}}]}},
    "examples": {"policy": {"rules": [{**RULE, "holds": [{"tool": "x", "args": {"a": [1, {"b": None}]}}]}]}},
    "approvals": {"approvals": {"expire": "7d", "routes": {"human": {"group": "g"}}}},
    "secrets": {"secrets": {"KEY": {"env": "A"}}},
    "sandbox": {"sandbox": {"kind": "local", "limits": {"wall_seconds": 0.5}, "pool": {"spares": 0}}},
    "state": {"store": {"url": "sqlite:///x.db"}, "audit": {"anchor": "a", "signing_key": "k"}},
}
INVALID: dict[str, dict[str, Any]] = {
    "version": {"version": 2},
    "unknown key": {"agnets": {}},
    "null section": {"policy": None},
    "list for mapping": {"agents": []},
    "no allowed_tools": {"agents": {"ana": {}}},
    "unknown agent key": {"agents": {"ana": {**AGENT, "allow_tools": []}}},
    "later key": {"agents": {"ana": {**AGENT, "network": {"ports": []}}}},
    "text for list": {"agents": {"ana": {"allowed_tools": "x"}}},
    "agent's name": {"agents": {"Ana": AGENT}},
    "role": {"people": {"alice": {"roles": ["boss"]}}},
    "no roles": {"people": {"alice": {}}},
    "no because": {"policy": {"rules": [{"match": {"tool": "x"}, "decision": "deny"}]}},
    "empty because": {"policy": {"rules": [{**RULE, "because": " "}]}},
    "decision": {"policy": {"rules": [{**RULE, "decision": "maybe"}]}},
    "empty match": {"policy": {"rules": [{**RULE, "match": {}}]}},
    "unknown match": {"policy": {"rules": [{**RULE, "match": {"user": "x"}}]}},
    "empty glob list": {"policy": {"rules": [{**RULE, "match": {"tool": []}}]}},
    "condition on nothing": {"policy": {"rules": [{**RULE, "when": {"amount": {"gt": 1}}}]}},
    "expire": {"approvals": {"expire": "soon"}},
    "route": {"approvals": {"routes": {"triple": {"group": "g"}}}},
    "two places": {"secrets": {"KEY": {"env": "A", "file": "b"}}},
    "no place": {"secrets": {"KEY": {}}},
    "secret's name": {"secrets": {"key": {"env": "A"}}},
    "sandbox": {"sandbox": {"kind": "docker"}},
    "limit": {"sandbox": {"limits": {"pids": 0}}},
    "fraction": {"sandbox": {"limits": {"pids": 1.5}}},
    "store": {"store": {"url": "mysql://x"}},
}


@pytest.fixture(scope="module")
def validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(config_schema(), validate_formats=True)


@pytest.mark.parametrize("sample", VALID.values(), ids=VALID)
def test_loader_and_schema_accept_the_same(
    sample: dict[str, Any], validator: jsonschema_rs.Draft202012Validator
) -> None:
    config = {"version": 1, **sample}
    load_config(config)
    assert validator.is_valid(config)


@pytest.mark.parametrize("sample", INVALID.values(), ids=INVALID)
def test_loader_and_schema_refuse_the_same(
    sample: dict[str, Any], validator: jsonschema_rs.Draft202012Validator
) -> None:
    config = {"version": 1, **sample}
    with pytest.raises(ConfigInvalid):
        load_config(config)
    assert not validator.is_valid(config)


def test_the_published_schema_and_the_page_are_what_the_script_writes() -> None:
    written = runpy.run_path(str(ROOT / "scripts" / "config_schema"))["render"]()
    published = {name: (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") for name in written}
    assert written == published, "run `.venv/bin/python scripts/config_schema`"
    assert json.loads(published["ringfence.schema.json"]) == config_schema()


def defaults(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "default" in schema:
        yield schema
    inner = [*schema.get("properties", {}).values(), schema.get("additionalProperties"), schema.get("items")]
    for sub in inner:
        yield from defaults(sub) if sub else ()


def test_every_default_in_the_schema_is_a_value_that_the_schema_accepts() -> None:
    found = list(defaults(config_schema()))
    assert len(found) > 20
    wrong = [schema for schema in found if not jsonschema_rs.is_valid(schema, schema["default"])]
    assert wrong == []
