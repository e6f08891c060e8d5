"""Measured on real data, where it is at hand: nothing hidden is left, nothing harmless is changed.

The data is not part of the project; `RINGFENCE_CORPORA` names its folder. Without it these tests have no rows
and say so in their ids; the guarantees are held by the other files of this folder.
"""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from ringfence.sanitise import Cleaned, clean_output
from ringfence.sanitise.invisible import HIDDEN

FOLDER = Path(os.environ.get("RINGFENCE_CORPORA", Path(__file__).resolve().parents[4] / "shared" / "corpora"))
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
UNSEEN = re.compile(f"[{HIDDEN}\u2028\u2029]")
NO_LIMIT = 1 << 40


def corpus(name: str) -> list[Any]:
    """The corpus as one parameter, so that a run shows at a glance whether it was there."""
    return [pytest.param(FOLDER / name, id=name)] if (FOLDER / name).is_file() else []


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.req("SAN-1")
@pytest.mark.parametrize("path", corpus("terminal_escapes.jsonl"))
def test_no_escape_of_the_corpus_is_left(path: Path) -> None:
    raws = [base64.b64decode(row["raw_b64"]) for row in rows(path)]
    assert [raw for raw in raws if CONTROL.search(clean_output(raw, limit=NO_LIMIT).text)] == []


@pytest.mark.req("SAN-1")
@pytest.mark.parametrize("path", corpus("unicode_hidden_positive.jsonl"))
def test_no_hidden_character_of_the_corpus_is_left(path: Path) -> None:
    assert [row["id"] for row in rows(path) if UNSEEN.search(clean_output(row["text"], limit=NO_LIMIT).text)] == []


@pytest.mark.req("SAN-4")
@pytest.mark.parametrize("path", corpus("unicode_preserve.jsonl"))
def test_no_harmless_text_of_the_corpus_is_changed(path: Path) -> None:
    texts = [row["text"] for row in rows(path)]
    assert [text for text in texts if clean_output(text, limit=NO_LIMIT) != Cleaned(text, ())] == []
