"""The page about postures is what the tables say."""

from __future__ import annotations

import runpy

import pytest

from tests.architecture.source import ROOT

pytestmark = pytest.mark.req("SBX-6")


def test_the_page_is_written_from_the_tables() -> None:
    page = (ROOT / "docs" / "reference" / "postures.md").read_text(encoding="utf-8")
    render = runpy.run_path(str(ROOT / "scripts" / "postures_page"))["render"]
    assert render() == page, "run `.venv/bin/python scripts/postures_page`"
