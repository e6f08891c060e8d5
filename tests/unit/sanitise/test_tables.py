"""Every table row is reachable and gives its reason, and the page of findings is complete."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from ringfence.sanitise import KINDS, Severity, clean_output
from ringfence.sanitise.credential_contexts import CONTEXTS
from ringfence.sanitise.credentials import FORMATS
from ringfence.sanitise.scripts import JOINED, NEIGHBOURS, UNSPACED, VARIANTS, Ranges, ranges
from ringfence.sanitise.signatures import SIGNATURES

pytestmark = pytest.mark.req("SAN-1", "SAN-4")

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "reference" / "findings.md"


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


def test_the_page_of_findings_is_what_the_script_writes() -> None:
    render = runpy.run_path(str(ROOT / "scripts" / "findings_page"))["render"]
    page = PAGE.read_text(encoding="utf-8")
    assert render(page) == page, "run `.venv/bin/python scripts/findings_page`"


def test_the_page_of_findings_lists_each_kind_and_each_row_once() -> None:
    page = PAGE.read_text(encoding="utf-8")
    kinds = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+) \| (.+) \|$", page, re.MULTILINE)
    severities = {severity.name.lower() for severity in Severity}
    assert [row for row in kinds if row[1] in severities] == [
        (name, kind.severity.name.lower(), kind.becomes.replace("|", "\\|"), kind.reason.replace("|", "\\|"))
        for name, kind in KINDS.items()
    ]
    ids = [*(row.id for row in FORMATS), *(row.id for row in CONTEXTS), *(row.id for row in SIGNATURES)]
    assert [name for name in ids if page.count(f"\n| `{name}` |") != 1] == []
