"""Rules are written from reasons: no wording of the corpora stands in the source.

The data is not part of the project; `RINGFENCE_CORPORA` names its folder. Without it these tests have no rows
and say so in their ids.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from ringfence.sanitise.signatures import SIGNATURES

pytestmark = pytest.mark.req("SAN-1", "REG-2")

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(os.environ.get("RINGFENCE_CORPORA", ROOT.parent / "shared" / "corpora"))
LONG = 20
TEXTS = ("text", "token", "secrets", "description", "a", "b")
CORPORA = [
    pytest.param(path, id=path.name)
    for path in sorted(FOLDER.glob("*.jsonl"))
    if path.name.startswith(("injection_", "secrets_", "tool_desc_", "role_tokens", "unicode_hidden", "homoglyph"))
]


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from strings(item)


def wordings(path: Path) -> set[str]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {text for row in rows for key in TEXTS if key in row for text in strings(row[key]) if len(text) >= LONG}


@pytest.mark.parametrize("path", CORPORA)
def test_no_string_of_the_corpora_occurs_in_the_source(path: Path) -> None:
    source = "\0".join(
        each.read_text(encoding="utf-8")
        for each in sorted((ROOT / "src").rglob("*"))
        if each.suffix in {".py", ".json", ".sql", ".html", ".yaml"}
    )
    assert [text for text in wordings(path) if text in source] == []


@pytest.mark.parametrize("path", [each for each in CORPORA if each.id == "injection_positive.jsonl"])
def test_no_row_shares_a_stretch_of_wording_with_an_attack(path: Path) -> None:
    stretches = {
        field[at : at + LONG] for row in SIGNATURES for field in map(str, row) for at in range(len(field) - LONG + 1)
    }
    shared = {
        text[at : at + LONG]
        for text in wordings(path)
        for at in range(len(text) - LONG + 1)
        if text[at : at + LONG] in stretches
    }
    assert shared == set()
