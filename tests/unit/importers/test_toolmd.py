"""A `TOOL.md` is a contract like any other: whole, consistent, and refused by the field that is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.contract.capabilities import FROM_AGENT, Files, Network, Processes, Secrets, Storage
from ringfence.errors import RingfenceError
from ringfence.importers.toolmd import read_tool, split

pytestmark = pytest.mark.req("CON-11")

OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}


def declared(**fields: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "kind": "tool",
        "schema_version": 1,
        "name": "count",
        "version": "2",
        "safety_class": "read",
        "permission_level": "none",
        "input_schema": OBJECT,
        "output_schema": OBJECT,
        "entrypoint": "bin/run",
    }
    return {name: value for name, value in {**plain, **fields}.items() if value is not None}


def test_the_front_matter_is_the_contract() -> None:
    found = read_tool(declared(limits={"wall_seconds": 3}), body="Count.\n")
    tool = found.tool
    assert (tool.name, tool.version, tool.safety.value, tool.egress.value) == ("count", "2", "read", "none")
    assert (tool.description, tool.limits.wall_seconds, found.entrypoint) == ("Count.", 3, "bin/run")
    assert read_tool(declared(description="Told above."), body="Told below.").tool.description == "Told above."


@pytest.mark.parametrize("style", ["mapping", "list"])
def test_needs_are_a_mapping_or_a_list_of_mappings(style: str) -> None:
    needs: dict[str, Any] = {
        "network": ["api.example.com"],
        "secrets": {"names": ["KEY"], "hosts": ["api.example.com"]},
        "storage": ["tool"],
        "files": {"read": "from_agent", "write": ["outbox"]},
        "processes": ["jq"],
    }
    given = needs if style == "mapping" else [{name: value} for name, value in needs.items()]
    tool = read_tool(
        declared(needs=given, safety_class="write", permission_level="write", idempotency="optional"), body="x"
    ).tool
    assert tool.needs == (
        Network("api.example.com"),
        Secrets("KEY", hosts=["api.example.com"]),
        Storage("tool"),
        Files(read=FROM_AGENT, write=["outbox"]),
        Processes("jq"),
    )


def test_hosts_and_binaries_can_be_left_to_the_agent() -> None:
    needs = {"network": "from_agent", "processes": "from_agent"}
    given = declared(needs=needs, safety_class="write", permission_level="read_only", idempotency="optional")
    assert read_tool(given, body="x").tool.needs == (Network(FROM_AGENT), Processes(FROM_AGENT))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"kind": "agent"}, "kind"),
        ({"schema_version": 2}, "schema_version"),
        ({"safety_class": "harmless"}, "safety_class"),
        ({"permission_level": "all"}, "permission_level"),
        ({"permission_level": "write", "safety_class": "read"}, "egress"),
        ({"input_schema": None}, "input_schema"),
        ({"surprise": 1}, "surprise"),
        ({"needs": {"root": True}}, "needs.root"),
        ({"needs": [{"processes": ["jq"]}, {"processes": ["id"]}]}, "needs"),
        ({"needs": {"processes": ["python3"]}}, "at least of class `write`"),
        ({"needs": {"processes": "from_agent"}}, "at least `write`"),
        ({"needs": {"processes": "from_anybody"}}, "needs.processes"),
        ({"safety_class": "write"}, "idempotency"),
        ({"entrypoint": "../run"}, "climbs"),
        ({"entrypoint": "/bin/sh"}, "absolute"),
        ({"entrypoint": "TOOL.md"}, "names no program"),
        ({"entrypoint": ".hidden"}, "names no program"),
        ({"name": None}, "name"),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, Any], said: str) -> None:
    document = {**declared(), **fields}
    document = {name: value for name, value in document.items() if value is not None}
    with pytest.raises(RingfenceError) as refused:
        read_tool(document, body="x")
    assert said in refused.value.message


def test_a_tool_that_nobody_describes_is_refused() -> None:
    with pytest.raises(RingfenceError, match="describes nothing"):
        read_tool(declared(), body=" \n")


def test_front_matter_stands_between_two_fences() -> None:
    assert split("---\na: 1\n---\nbody\n---\nmore\n") == ("a: 1\n", "body\n---\nmore\n")
    for text in ("", "a: 1\n", "---\na: 1\n"):
        with pytest.raises(RingfenceError):
            split(text)
