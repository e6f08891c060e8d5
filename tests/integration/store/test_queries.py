"""SQL is asked for by name, and every name is one that exists."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ringfence.store import queries as named_sql
from ringfence.store.queries import migrations, queries
from tests.architecture.source import ROOT

pytestmark = pytest.mark.req("DB-1")


def asked_for() -> set[str]:
    """Every name that the store's code gives to a transaction or looks up."""
    known = set(queries("sqlite"))
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "src/ringfence/store").glob("*.py"))]
    constants = (node for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return {node.value for node in constants if isinstance(node.value, str) and node.value in known}


def test_every_statement_is_used() -> None:
    assert asked_for() == set(queries("sqlite"))


def test_migrations_are_numbered_from_one() -> None:
    assert [step.version for step in migrations("sqlite")] == list(range(1, len(migrations("sqlite")) + 1))


def test_two_statements_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "sql" / "twice" / "queries"
    folder.mkdir(parents=True)
    (folder / "a.sql").write_text("-- name: one\nSELECT 1\n\n-- name: one\nSELECT 2\n")

    def here(package: str) -> Path:
        assert package == "ringfence.store"
        return tmp_path

    monkeypatch.setattr(named_sql, "files", here)
    with pytest.raises(Exception, match="two statements are named `one`"):
        queries("twice")
