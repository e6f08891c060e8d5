"""The project's own source, read once, for the tests that judge it.

Takes: the tree under `src/`.  Gives: parsed modules and the share of comments.  Never: imports what it reads.
"""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRAGMAS = ("# fmt:", "# noqa", "# type:", "# pyright:", "# pragma:", "#!")


@dataclass(frozen=True, kw_only=True)
class Module:
    """One source file: its name relative to the root, its text, its tree."""

    name: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


@cache
def modules() -> tuple[Module, ...]:
    """Every Python file under `src/`, in name order."""
    found = tuple(_read(path) for path in sorted((ROOT / "src").rglob("*.py")))
    assert found, "no source found under `src/`"
    return found


def _read(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    return Module(name=str(path.relative_to(ROOT)), text=text, tree=ast.parse(text, filename=str(path)))


def comment_share() -> float:
    """Comments per line of source, tool pragmas not counted."""
    comments = sum(_comments(module.text) for module in modules())
    return comments / max(1, sum(module.lines for module in modules()))


def _comments(text: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(1 for token in tokens if token.type == tokenize.COMMENT and not token.string.startswith(PRAGMAS))
