"""The commands of a how-to page, typed one after the other in a fresh project, end as the page says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.acceptance.cli.typed import typed
from tests.acceptance.docs.pages import ROOT

LINE = re.compile(r"^\$ (?P<words>.+?)(?:\s+# exit (?P<code>\d).*)?$", re.MULTILINE)


def commands(page: str) -> list[tuple[list[str], int]]:
    shown = (
        (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8").split("<!-- typed -->", 1)[1].split("```", 2)[1]
    )
    return [(shlex.split(found["words"])[1:], int(found["code"] or 0)) for found in LINE.finditer(shown)]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("standing-grants.md", marks=pytest.mark.req("APR-8", "OPS-1")),
        pytest.param("freeze.md", marks=pytest.mark.req("OPS-8", "OPS-1")),
    ],
)
def test_the_commands_of_a_page_end_as_it_says(page: str, tmp_path: Path) -> None:
    assert typed("init", "shop", cwd=tmp_path).code == 0
    shop = tmp_path / "shop"
    assert typed("check", "--accept", "--as", "bob", cwd=shop).code == 0
    lines = commands(page)
    assert len(lines) > 5
    for words, expected in lines:
        if "GRANT" in words:
            (grant,) = json.loads(typed("grants", "list", "--json", cwd=shop).out)["grants"]
            words = [grant["id"] if word == "GRANT" else word for word in words]  # noqa: PLW2901
        done = typed(*words, cwd=shop)
        assert (words, done.code) == (words, expected), f"{done.out}\n{done.err}"


@pytest.mark.req("SEC-1", "OPS-1")
def test_the_commands_of_the_page_about_secrets_end_as_it_says(tmp_path: Path) -> None:
    assert typed("init", "shop", cwd=tmp_path).code == 0
    shop = tmp_path / "shop"
    with (shop / "ringfence.yaml").open("a", encoding="utf-8") as config:
        config.write("\nsecrets: {SHOP_KEY: {file: shop.key}}\n")
    lines = commands("secrets.md")
    assert len(lines) > 5
    for words, expected in lines:
        done = typed(*words, cwd=shop, stdin="zebra-orchid-41-lantern\n")
        assert (words, done.code) == (words, expected), f"{done.out}\n{done.err}"
        assert "zebra" not in done.out + done.err
