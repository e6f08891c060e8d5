"""The pages name what exists, and leave out nothing that they promise to list."""

from __future__ import annotations

import importlib
import re
import tomllib

import pytest

from tests.acceptance.docs.names import is_symbol
from tests.acceptance.docs.pages import ROOT, blocks, rows

API = ROOT / "docs" / "reference" / "api.md"
GLOSSARY = ROOT / "docs" / "glossary.md"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"


def names(heading: str) -> set[str]:
    return {row[0].strip("`") for row in rows(API, heading=heading)}


def rooms() -> set[str]:
    """The packages that exist, and the one module beside them."""
    package = ROOT / "src" / "ringfence"
    return {path.parent.name for path in package.glob("*/__init__.py")} | {"errors"}


@pytest.mark.req("CON-1")
@pytest.mark.parametrize(
    ("heading", "module"),
    [
        ("## For tool authors: `ringfence`", "ringfence"),
        ("## Ready tools: `ringfence.tools`", "ringfence.tools"),
        ("## For embedders: `ringfence.assembly`", "ringfence.assembly"),
        ("## For embedders: `ringfence.runtime`", "ringfence.runtime"),
        ("## For tests: `ringfence.testing`", "ringfence.testing"),
    ],
)
def test_the_page_of_public_names_lists_exactly_what_a_module_offers(heading: str, module: str) -> None:
    assert names(heading) == set(importlib.import_module(module).__all__)


@pytest.mark.req("CON-1")
def test_the_pure_pieces_exist() -> None:
    assert [name for name in names("## Pure pieces") if not is_symbol(name)] == []


@pytest.mark.req("HOUSE-6")
def test_a_word_of_the_glossary_stands_for_one_thing_that_exists() -> None:
    table = GLOSSARY.read_text(encoding="utf-8").split("\n## ", 1)[0]
    lines = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    words = [line[0].strip() for line in lines]
    assert len(words) == len(set(words)) > 30
    named = [name for line in lines for name in re.findall(r"`(ringfence\.[\w.]+)`", line[2])]
    assert [name for name in named if not is_symbol(name)] == []


@pytest.mark.req("HOUSE-1")
def test_the_architecture_page_shows_every_room_and_no_other() -> None:
    assert {row[0].strip("`/") for row in rows(ARCHITECTURE, heading="## The rooms")} == rooms()


@pytest.mark.req("HOUSE-1")
def test_the_architecture_page_has_the_rooms_in_the_order_that_is_enforced() -> None:
    (law,) = (block.text for block in blocks(ARCHITECTURE) if block.text.startswith("cli | testing"))
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (each for each in settings["tool"]["importlinter"]["contracts"] if each["id"] == "layers")
    enforced = [re.findall(r"\w+", line) for line in contract["layers"]]
    existing = [[room for room in line if room in rooms()] for line in enforced]
    assert [re.findall(r"\w+", line) for line in law.splitlines()] == [line for line in existing if line]


@pytest.mark.req("HOUSE-1")
def test_every_file_that_the_way_of_a_call_names_exists() -> None:
    page = ARCHITECTURE.read_text(encoding="utf-8")
    files = re.findall(r"`([a-z_]+/[\w/]+\.py)`", page)
    assert files
    beside = (ROOT / "src" / "ringfence", ROOT)
    assert [file for file in files if not any((place / file).is_file() for place in beside)] == []
