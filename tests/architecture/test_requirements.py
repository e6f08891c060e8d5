"""The table of promises and the tests hold each other: neither may name what the other lacks."""

from __future__ import annotations

import re

import pytest

from tests.architecture.marks import held_in, held_under
from tests.architecture.source import ROOT
from tests.requirements import DEFERRED, HOUSE, LIVE, REQUIREMENTS

pytestmark = pytest.mark.req("HOUSE-10")

HELD = held_under(ROOT / "tests")
MARKED = frozenset[str]().union(*(held.ids for held in HELD))


def test_every_live_requirement_has_a_test() -> None:
    missing = [row.id for row in (*LIVE, *HOUSE) if row.id not in MARKED]
    assert missing == [], f"live, but no test is marked with: {', '.join(missing)}"


def test_every_marked_id_is_in_the_table() -> None:
    known = {row.id for row in (*REQUIREMENTS, *HOUSE)}
    unknown = {held.where: sorted(held.ids - known) for held in HELD if held.ids - known}
    assert unknown == {}


def test_no_test_claims_a_deferred_requirement() -> None:
    deferred = {row.id for row in DEFERRED}
    early = {held.where: sorted(held.ids & deferred) for held in HELD if held.ids & deferred}
    assert early == {}, "make the requirement live, with `partly` naming what is still out"


def test_every_test_names_a_requirement() -> None:
    assert [held.where for held in HELD if not held.ids] == []


def test_ids_are_unique_and_numbered_without_gaps() -> None:
    families: dict[str, list[int]] = {}
    for row in (*REQUIREMENTS, *HOUSE):
        match = re.fullmatch(r"([A-Z]+)-(\d+)", row.id)
        assert match, row.id
        families.setdefault(match[1], []).append(int(match[2]))
    assert families == {family: list(range(1, len(numbers) + 1)) for family, numbers in families.items()}


def test_every_row_says_where_it_comes_from_and_what_it_promises() -> None:
    rows = (*REQUIREMENTS, *HOUSE)
    assert [row.id for row in rows if not (row.source and row.behaviour)] == []
    assert [row.id for row in rows if row.deferred == "" or row.partly == ""] == []
    assert [row.id for row in rows if row.deferred and row.partly] == [], "deferred rows are wholly out"


def test_the_walk_reads_marks_on_modules_classes_functions_and_parameters() -> None:
    text = """
import pytest
pytestmark = [pytest.mark.req("A-1"), pytest.mark.long]

@pytest.mark.req("A-2", "A-3")
async def test_one(): ...

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.req("A-4"))])
def test_two(x): ...

class TestStore(Suite):
    pytestmark = pytest.mark.req("A-5")
    def test_three(self): ...

def not_a_test(): ...
"""
    found = {held.where: sorted(held.ids) for held in held_in(text, name="f")}
    assert found == {
        "f::test_one": ["A-1", "A-2", "A-3"],
        "f::test_two": ["A-1", "A-4"],
        "f::TestStore": ["A-1", "A-5"],
        "f::TestStore::test_three": ["A-1", "A-5"],
    }


def test_an_unmarked_test_is_seen() -> None:
    assert [held.ids for held in held_in("def test_alone(): ...", name="f")] == [frozenset()]


def test_a_computed_id_is_refused() -> None:
    with pytest.raises(AssertionError, match="written out"):
        held_in("@pytest.mark.req(name)\ndef test_x(): ...", name="f")
