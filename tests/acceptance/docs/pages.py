"""The project's pages, read as Markdown: their links, their snippets, and what they say the snippets print.

Takes: the `.md` files of the tree.  Gives: links, marked code blocks, tables.  Never: runs anything.

A block is marked by a comment on the line before its fence: `<!-- snippet: docs_src/x.py -->` shows that file,
`<!-- output: docs_src/x.py -->` shows what it prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SNIPPETS = ROOT / "docs_src"

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>\w+): (?P<file>\S+) -->\n)?^(?P<fence>`{3,})(?P<language>[^\n`]*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_INLINE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Block:
    """One fenced block of a page."""

    page: str
    mark: str | None
    file: str | None
    language: str
    text: str


def pages() -> list[Path]:
    """Every page that people read: the root's and those under `docs/`."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(page: Path) -> Iterator[Block]:
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield Block(
            page=page.relative_to(ROOT).as_posix(),
            mark=found["mark"],
            file=found["file"],
            language=found["language"].strip(),
            text=found["text"],
        )


def marked(mark: str) -> list[Block]:
    """Every block with this mark, on whichever page."""
    return [block for page in pages() for block in blocks(page) if block.mark == mark]


def prose(page: Path) -> str:
    """The page without its code."""
    return _INLINE.sub("", _BLOCK.sub("", page.read_text(encoding="utf-8")))


def links(page: Path) -> list[str]:
    """Where the page's links lead, as written."""
    return _LINK.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """The names under which a page's headings can be linked to."""
    headings = _HEADING.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def rows(page: Path, *, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    below = page.read_text(encoding="utf-8").split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in below.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
