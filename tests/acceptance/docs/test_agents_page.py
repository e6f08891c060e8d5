"""`docs/how-to/agents.md`, followed from an empty folder to its end, says what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.docs.pages import ROOT, Block
from tests.acceptance.docs.walk import Walker

PAGE = ROOT / "docs" / "how-to" / "agents.md"


@pytest.mark.req("VIEW-3", "VIEW-5", "VIEW-7", "POL-3", "POL-5")
def test_the_page_about_agents_can_be_followed_to_its_end(tmp_path: Path) -> None:
    assert Walker(folder=tmp_path).follow(PAGE) > 15


@pytest.mark.req("OPS-1")
def test_an_answer_that_differs_from_the_page_is_seen(tmp_path: Path) -> None:
    def typed(answer: str, code: str) -> None:
        text = f"$ ringfence --version\n{answer}\n"
        Walker(folder=tmp_path).take(Block(page="p", mark="typed", file=code, language="console", text=text))

    typed("ringfence …", "0")
    for answer, code in (("ringfence 9…", "0"), ("ringfence …", "1"), ("ringfence …\nmore", "0")):
        with pytest.raises(AssertionError):
            typed(answer, code)
