"""The page of errors is complete and current."""

from __future__ import annotations

import re
import runpy

import pytest

from ringfence.errors import CODES
from tests.architecture.source import ROOT

pytestmark = pytest.mark.req("OPS-7")

PAGE = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")


def test_the_page_is_what_the_script_writes() -> None:
    render = runpy.run_path(str(ROOT / "scripts" / "errors_page"))["render"]
    assert render() == PAGE, "run `.venv/bin/python scripts/errors_page`"


def test_the_page_lists_each_code_once_with_reader_meaning_and_remedy() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert rows == [(name, str(code.audience), code.meaning, code.remedy) for name, code in CODES.items()]


def test_every_code_is_plain_and_every_text_follows_the_error_style() -> None:
    assert [name for name in CODES if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []
    texts = [text for code in CODES.values() for text in (code.meaning, code.remedy)]
    assert [text for text in texts if not text or "\n" in text or text.endswith(".") or text[0].isupper()] == []
