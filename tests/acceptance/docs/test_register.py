"""A published guarantee names the code that holds it and the test that tries it, and both are there."""

from __future__ import annotations

import re

import pytest

from tests.acceptance.docs.names import is_symbol, is_test, is_trigger
from tests.acceptance.docs.pages import ROOT, rows
from tests.requirements import HOUSE, LIVE

pytestmark = pytest.mark.req("HOUSE-10")

REGISTER = rows(ROOT / "docs" / "threat-model.md", heading="## The register of guarantees")
IDS = [row[0] for row in REGISTER]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_register_is_not_empty_and_its_ids_count_up() -> None:
    assert len(IDS) >= 15
    assert [f"G-{number}" for number in range(1, len(IDS) + 1)] == IDS


@pytest.mark.parametrize("row", REGISTER, ids=IDS)
def test_a_guarantee_names_what_holds_it_what_tries_it_and_what_it_leaves_out(row: list[str]) -> None:
    _, guaranteed, promises, held_by, tried_by, leaves_out = row
    live = {each.id for each in (*LIVE, *HOUSE)}
    assert guaranteed
    assert leaves_out
    assert promises
    assert set(promises.split(", ")) <= live, "a guarantee rests on promises that are held"
    assert quoted(held_by)
    assert [name for name in quoted(held_by) if not (is_symbol(name) or is_trigger(name))] == []
    assert quoted(tried_by)
    assert [where for where in quoted(tried_by) if not is_test(where)] == []


@pytest.mark.parametrize("name", ["ringfence.policy.authorize.no_such", "ringfence.no_room", "os.no_such"])
def test_a_symbol_that_is_gone_is_seen(name: str) -> None:
    assert not is_symbol(name)


def test_a_test_that_is_gone_is_seen() -> None:
    assert not is_test("acceptance/docs/test_register.py::test_that_never_was")
    assert not is_test("acceptance/docs/no_file.py::test_x")
    assert not is_trigger("no_such_trigger")
