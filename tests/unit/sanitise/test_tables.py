"""Every table row is reachable and gives its reason, and the page of findings is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ringfence.sanitise import KINDS, clean_output
from ringfence.sanitise.scripts import JOINED, NEIGHBOURS, UNSPACED, VARIANTS, Ranges, ranges

pytestmark = pytest.mark.req("SAN-1", "SAN-4")

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "findings.md"


def first(blocks: str) -> str:
    return chr(ranges(blocks).firsts[0])


KEPT = [
    *((reason, f"{first(blocks)}\u200c{first(blocks)}") for blocks, reason in JOINED),
    *((reason, f"{first(blocks)}\u200b{first(blocks)}") for blocks, reason in UNSPACED),
    *((reason, f"{first(blocks)}{first(chars)}") for chars, blocks, reason in NEIGHBOURS),
    *((reason, f"{first(bases)}{first(selectors)}") for bases, selectors, reason in VARIANTS),
]


@pytest.mark.parametrize(("reason", "text"), KEPT, ids=[reason for reason, _ in KEPT])
def test_what_a_row_protects_stays_and_the_same_beside_latin_goes(reason: str, text: str) -> None:
    assert reason
    assert clean_output(text).text == text
    invisible = text[1]
    assert clean_output(f"a{invisible}b").text == "ab"


@pytest.mark.parametrize("tables", [JOINED, UNSPACED, [(row[0], "") for row in NEIGHBOURS]])
def test_no_block_stands_twice_in_a_table(tables: list[tuple[str, str]]) -> None:
    whole: Ranges = ranges(*(blocks for blocks, _ in tables))
    assert all(last < following for last, following in zip(whole.lasts, whole.firsts[1:], strict=False))


def test_the_page_of_findings_lists_each_kind_once() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(name, kind.severity.name.lower(), kind.becomes, kind.reason) for name, kind in KINDS.items()]
