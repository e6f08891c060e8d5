"""A contract that comes back from a jail is read as a stranger's word."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence import FROM_AGENT, Network, Processes, tool
from ringfence.contract.document import read_document
from ringfence.errors import DeclarationRefused
from tests.acceptance.spine import toolbox

pytestmark = pytest.mark.req("CON-10", "CON-2")


@pytest.mark.parametrize("declared", toolbox.ALL, ids=lambda declared: declared.name)
def test_a_document_reads_back_as_the_contract_it_was_made_from(declared: Any) -> None:
    again = read_document(declared.document())
    assert again.fingerprint == declared.fingerprint
    assert again.implementation is None


def test_needs_that_are_left_to_the_agent_read_back_as_such() -> None:
    @tool(
        safety="write", idempotency="optional", egress="read_only", needs=[Network(FROM_AGENT), Processes(FROM_AGENT)]
    )
    def fetch(number: int) -> int:
        """Fetch."""
        return number

    assert [need["kind"] for need in fetch.document()["needs"]] == ["network", "processes"]
    assert read_document(fetch.document()).needs == fetch.needs
    assert fetch.document()["needs"][0]["hosts"] == fetch.document()["needs"][1]["binaries"] == "from_agent"


LIES: dict[str, dict[str, Any]] = {
    "another version": {"schema_version": 2},
    "an unknown class": {"safety": "harmless"},
    "a class without its floor": {"safety": "financial"},
    "egress without hosts": {"egress": "write"},
    "an unknown word": {"sudo": True},
    "a loose schema": {"input_schema": {}},
    "a schema that takes anything": {"input_schema": {"type": "object", "additionalProperties": True}},
    "an unbounded text": {"input_schema": {"type": "object", "title": "x", "properties": {"t": {"type": "string"}}}},
    "an unknown need": {"needs": [{"kind": "root"}]},
    "an empty need": {"needs": [{"kind": "processes", "binaries": []}]},
    "a climbing path": {"needs": [{"kind": "files", "read": ["../x"], "write": []}]},
    "a route of its own": {"approval": "none"},
    "an endless description": {"description": "x" * 100_000},
    "a number for a name": {"name": 7},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_document_that_lies_is_refused(lie: dict[str, Any]) -> None:
    with pytest.raises(DeclarationRefused):
        read_document({**toolbox.echo.document(), **lie})


def test_a_document_with_a_word_missing_is_refused() -> None:
    for word in toolbox.echo.document():
        partial = {name: value for name, value in toolbox.echo.document().items() if name != word}
        with pytest.raises(DeclarationRefused):
            read_document(partial)
