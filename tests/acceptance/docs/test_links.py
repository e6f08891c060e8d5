"""A page leads only to what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.docs.pages import ROOT, anchors, links, pages

pytestmark = pytest.mark.req("HOUSE-10")


def missing(page: Path) -> list[str]:
    """The links of a page that lead nowhere in this tree; addresses elsewhere are not followed."""
    return [link for link in links(page) if not link.startswith(("https://", "mailto:")) and not leads(page, link)]


def leads(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or anchor in anchors(target)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert missing(page) == []


def test_every_page_under_docs_can_be_reached_from_the_readme() -> None:
    reached, todo = set[Path](), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        local = [link.partition("#")[0] for link in links(page) if not link.startswith(("https://", "mailto:", "#"))]
        todo += [(page.parent / path).resolve() for path in local]
    assert [page.relative_to(ROOT).as_posix() for page in pages() if page not in reached] == []


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path) -> None:
    page = ROOT / "README.md"
    assert not leads(page, "docs/no-such-page.md")
    assert not leads(page, "docs/index.md#no-such-heading")
    assert not leads(page, "../outside.md")
