"""SQL lives in `.sql` files and is asked for by name.

Takes: a dialect.  Gives: its statements by name, and its migrations in order.
Never: builds SQL from text that came from a caller.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

from ringfence.errors import Misuse

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_MIGRATION = re.compile(r"(\d{4})_(\w+)\.sql")


@dataclass(frozen=True, kw_only=True)
class Migration:
    """One step from a schema to the next."""

    version: int
    name: str
    script: str


@cache
def queries(dialect: str) -> Mapping[str, str]:
    """Every named statement of a dialect."""
    found: dict[str, str] = {}
    for text in (path.read_text(encoding="utf-8") for path in _sql_files(dialect, "queries")):
        for name, statement in _named(text):
            if name in found:
                raise Misuse(f"two statements are named `{name}`")
            found[name] = statement
    return MappingProxyType(found)


@cache
def migrations(dialect: str) -> tuple[Migration, ...]:
    """Every migration of a dialect, numbered from 1 without gaps."""
    found = tuple(_migration(path) for path in _sql_files(dialect, "migrations"))
    if [step.version for step in found] != list(range(1, len(found) + 1)):
        raise Misuse(f"the migrations of `{dialect}` are not numbered without gaps")
    return found


def _named(text: str) -> list[tuple[str, str]]:
    _, *parts = _NAME.split(text)
    return [(name, body.strip()) for name, body in zip(parts[::2], parts[1::2], strict=True)]


def _migration(path: Traversable) -> Migration:
    matched = _MIGRATION.fullmatch(path.name)
    if matched is None:
        raise Misuse(f"`{path.name}` is no name for a migration")
    return Migration(version=int(matched[1]), name=matched[2], script=path.read_text(encoding="utf-8"))


def _sql_files(dialect: str, kind: str) -> list[Traversable]:
    folder = files("ringfence.store") / "sql" / dialect / kind
    return sorted((path for path in folder.iterdir() if path.name.endswith(".sql")), key=lambda path: path.name)
