"""The page about the database shows every move and every table that there is."""

from __future__ import annotations

import runpy

import pytest

from tests.architecture.source import ROOT

PAGE = (ROOT / "docs" / "reference" / "database.md").read_text(encoding="utf-8")


@pytest.mark.req("DB-2")
def test_the_page_is_what_the_code_draws() -> None:
    render = runpy.run_path(str(ROOT / "scripts" / "database_page"))["render"]
    assert render(PAGE) == PAGE, "run `.venv/bin/python scripts/database_page`"
