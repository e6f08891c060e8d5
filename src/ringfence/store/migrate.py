"""Brings a database to the schema this code knows: forward only, one process at a time.

Takes: a connection.  Gives: a database of the current version.
Never: touches a database that is newer than the code or that is not ours.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from ringfence.errors import RingfenceError
from ringfence.store.queries import Migration, migrations, queries

_VERSIONS = "schema_versions"


def migrate(connection: sqlite3.Connection, *, at: str, path: str) -> None:
    """Apply every migration that is missing, all of them or none."""
    known = migrations("sqlite")
    if file_version(connection, path=path) == len(known):
        return
    connection.execute("BEGIN EXCLUSIVE")
    try:
        version = file_version(connection, path=path)
        for step in known[version:]:
            _apply(connection, step, at=at)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def file_version(connection: sqlite3.Connection, *, path: str) -> int:
    """The version on record; 0 for a new database, refused where no migration leads on from it."""
    named = queries("sqlite")
    tables = {name for (name,) in connection.execute(named["tables"])}
    if not tables:
        return 0
    if _VERSIONS not in tables:
        raise RingfenceError(
            f"`{path}` is a database of something else", code="config_invalid", remedy="name a file of its own"
        )
    (version,) = connection.execute(named["version"]).fetchone()
    if version > len(migrations("sqlite")):
        raise RingfenceError(
            f"the store `{path}` has schema {version}, and this version knows {len(migrations('sqlite'))}",
            code="config_invalid",
            remedy="run the version that wrote it, or a newer one; schemas only move forward",
        )
    return int(version)


def _apply(connection: sqlite3.Connection, step: Migration, *, at: str) -> None:
    named = queries("sqlite")
    if step.version == 1:
        connection.execute(named["create_versions"])
    for statement in _statements(step.script):
        connection.execute(statement)
    connection.execute(named["insert_version"], (step.version, step.name, at))


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit first."""
    gathered = ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if sqlite3.complete_statement(gathered):
            yield gathered
            gathered = ""
