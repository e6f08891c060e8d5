"""What differs from what was accepted: pure comparisons of a ledger."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ringfence import Tool
from ringfence.registry.diff import Difference, differences, field_changes
from ringfence.registry.pins import CodeChange, Ledger, Pin, Sighting, Trust, quarantine
from tests.acceptance.spine import toolbox

pytestmark = pytest.mark.req("REG-1")

SOURCE = "module:shop"


def pin(tool: Tool, **changes: Any) -> Pin:
    plain = Pin(
        source=SOURCE, tool=tool.name, fingerprint=tool.fingerprint, source_digest="sha256:one", trust=Trust.PINNED
    )
    return replace(plain, **changes)


def seen(tool: Tool, **changes: Any) -> Sighting:
    plain = Sighting(source=SOURCE, tool=tool.name, fingerprint=tool.fingerprint, source_digest="sha256:one")
    return replace(plain, **changes)


def ledger(*records: Pin | Sighting) -> Ledger:
    return Ledger(
        pins={(each.source, each.tool): each for each in records if isinstance(each, Pin)},
        sightings={(each.source, each.tool): each for each in records if isinstance(each, Sighting)},
    )


def found(*records: Pin | Sighting, tools: tuple[Tool, ...], code: CodeChange = "record") -> tuple[Difference, ...]:
    contracts = {(tool.name, tool.fingerprint): tool.document() for tool in tools}
    return differences(ledger(*records), contracts=contracts, code=code)


def test_what_is_as_it_was_accepted_is_no_difference() -> None:
    assert found(pin(toolbox.echo), seen(toolbox.echo), tools=(toolbox.echo,)) == ()


def test_a_pin_that_no_process_has_looked_at_since_is_no_difference() -> None:
    assert found(pin(toolbox.echo), tools=(toolbox.echo,)) == ()


def test_a_changed_class_need_and_text_each_show_with_their_place() -> None:
    loose = replace(toolbox.echo, description="Shout.", version="2")
    (difference,) = found(pin(toolbox.echo), seen(loose), tools=(toolbox.echo, loose))
    assert difference.kind == "changed"
    assert [(each.path, each.before, each.after) for each in difference.changes] == [
        ("/description", "Say the same again.", "Shout."),
        ("/version", "1", "2"),
    ]


def test_a_rename_with_another_description_is_recognised_by_its_schema() -> None:
    renamed = replace(toolbox.echo, name="shout", description="Shout.")
    gone = seen(toolbox.echo, presence="gone")
    (difference,) = found(pin(toolbox.echo), gone, seen(renamed), tools=(toolbox.echo, renamed))
    assert (difference.kind, difference.tool, difference.was) == ("renamed", "shout", "echo")


def test_of_two_candidates_the_more_alike_is_the_renamed_one() -> None:
    near = replace(toolbox.echo, name="near")
    far = replace(toolbox.echo, name="far", description="Shout.", version="9")
    gone = seen(toolbox.echo, presence="gone")
    listed = found(pin(near), seen(near, presence="gone"), pin(far), seen(far, presence="gone"), seen(toolbox.echo),
                   tools=(toolbox.echo, near, far))  # fmt: skip
    assert [(each.kind, each.tool, each.was) for each in listed] == [
        ("renamed", "echo", "near"),
        ("removed", "far", None),
    ]
    assert gone.presence == "gone"


def test_an_unlike_tool_is_an_addition_and_a_removal() -> None:
    gone = seen(toolbox.pay, presence="gone")
    listed = found(pin(toolbox.pay), gone, seen(toolbox.echo), tools=(toolbox.pay, toolbox.echo))
    assert [(each.kind, each.tool) for each in listed] == [("added", "echo"), ("removed", "pay")]


def test_a_retired_pin_is_no_pin() -> None:
    listed = found(pin(toolbox.echo, retired=True), seen(toolbox.echo), tools=(toolbox.echo,))
    assert [each.kind for each in listed] == ["added"]
    assert found(pin(toolbox.echo, retired=True), seen(toolbox.echo, presence="gone"), tools=()) == ()


@pytest.mark.parametrize(("code", "kinds"), [("record", []), ("strict", ["code_changed"])])
def test_changed_code_is_a_difference_where_it_is_held_back(code: CodeChange, kinds: list[str]) -> None:
    listed = found(pin(toolbox.echo), seen(toolbox.echo, source_digest="sha256:two"), tools=(), code=code)
    assert [each.kind for each in listed] == kinds


def test_the_digest_of_a_difference_names_all_of_it() -> None:
    loose = replace(toolbox.echo, description="Shout.")
    (one,) = found(pin(toolbox.echo), seen(loose), tools=(toolbox.echo, loose))
    other = replace(one, seen=seen(loose, source_digest="sha256:two"))
    assert one.digest != other.digest


def test_every_changed_leaf_is_listed_and_an_absent_one_has_no_text() -> None:
    before: dict[str, Any] = {"a": {"b": [1, "x"]}, "gone": True, "empty": {}}
    after: dict[str, Any] = {"a": {"b": [1, "y", None]}, "empty": []}
    assert [(each.path, each.before, each.after) for each in field_changes(before, after)] == [
        ("/a/b/1", "x", "y"),
        ("/a/b/2", None, "null"),
        ("/empty", "{}", "[]"),
        ("/gone", "true", None),
    ]


OTHER = replace(toolbox.echo, version="2")
TWO = "sha256:two"


@pytest.mark.parametrize(
    ("records", "code", "expected"),
    [
        ((), "record", "definition_changed"),
        ((pin(toolbox.echo),), "record", None),
        ((pin(toolbox.echo), seen(toolbox.echo)), "strict", None),
        ((pin(toolbox.echo, retired=True),), "record", "definition_changed"),
        ((pin(OTHER),), "record", "definition_changed"),
        ((pin(toolbox.echo), seen(OTHER)), "record", "definition_changed"),
        ((pin(toolbox.echo, trust=Trust.UNTRUSTED),), "record", "failed_gate"),
        ((pin(toolbox.echo), seen(toolbox.echo, source_digest=TWO)), "record", None),
        ((pin(toolbox.echo), seen(toolbox.echo, source_digest=TWO)), "strict", "code_changed"),
        ((pin(toolbox.echo, source_digest=TWO), seen(toolbox.echo, source_digest=TWO)), "strict", "code_changed"),
    ],
)
def test_a_contract_is_in_use_only_where_pin_sighting_and_process_agree(
    records: tuple[Pin | Sighting, ...], code: CodeChange, expected: str | None
) -> None:
    _, why = quarantine(
        (SOURCE, "echo"),
        fingerprint=toolbox.echo.fingerprint,
        source_digest="sha256:one",
        ledger=ledger(*records),
        code=code,
    )
    assert why == expected
