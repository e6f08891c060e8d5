"""Stores as an earlier version left them: its schema, with rows in every table that it had.

The rows are those that today's store writes, cut down to the tables and columns of then.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import psycopg

from ringfence.store.queries import migrations, queries
from tests.cluster import Cluster

Rows: TypeAlias = dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]]
# Made by migrations themselves, or told anew by them.
_NOT_COPIED = {"schema_versions", "ledger_version", "audit_offset", "sqlite_sequence"}


def sqlite_rows(path: Path) -> Rows:
    with sqlite3.connect(path) as one:
        kept = "SELECT name FROM sqlite_master WHERE type = 'table' OR name = 'audit_bodies'"
        tables = [name for (name,) in one.execute(kept)]
        return {name: _sqlite_table(one, name) for name in tables if name not in _NOT_COPIED}


def old_sqlite(path: Path, *, version: int, rows: Rows) -> None:
    """A file of that version with these rows; its triggers stand aside meanwhile and are put back."""
    with sqlite3.connect(path, isolation_level=None) as one:
        one.execute(queries("sqlite")["create_versions"])
        for step in migrations("sqlite")[:version]:
            one.executescript(step.script)
            one.execute(queries("sqlite")["insert_version"], (step.version, step.name, "2029"))
        triggers = one.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            one.execute(f"DROP TRIGGER {name}")
        views = {name for (name,) in one.execute("SELECT name FROM sqlite_master WHERE type = 'view'")}
        for table, (columns, values) in rows.items():
            known = () if table in views else _sqlite_table(one, table)[0]
            if known:
                _insert_sqlite(one, table, columns, values, known)
        for _, script in triggers:
            one.execute(script)


def _sqlite_table(one: sqlite3.Connection, table: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Columns that can be written, and the rows; nothing for a table that is not there."""
    columns = tuple(row[1] for row in one.execute(f"PRAGMA table_xinfo({table})") if row[6] == 0)
    listed = ", ".join(f'"{column}"' for column in columns)
    return columns, one.execute(f"SELECT {listed} FROM {table}").fetchall() if columns else []


def _insert_sqlite(
    one: sqlite3.Connection, table: str, columns: Sequence[str], values: Sequence[Any], known: Sequence[str]
) -> None:
    kept = [number for number, column in enumerate(columns) if column in known]
    listed = ", ".join(f'"{columns[number]}"' for number in kept)
    marks = ", ".join("?" for _ in kept)
    one.executemany(
        f"INSERT INTO {table} ({listed}) VALUES ({marks})", [tuple(row[number] for number in kept) for row in values]
    )


_COLUMNS = """SELECT column_name FROM information_schema.columns
WHERE table_schema = 'ringfence' AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position"""


def postgres_rows(url: str) -> Rows:
    with psycopg.connect(url, autocommit=True) as one:
        tables = one.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'ringfence'").fetchall()
        return {name: _postgres_table(one, name) for (name,) in tables if name not in _NOT_COPIED}


def old_postgres(cluster: Cluster, *, version: int, rows: Rows) -> str:
    """A database of that version with these rows, which its triggers did not see."""
    name = cluster.database(template="template0")
    cluster.execute(f"GRANT CREATE ON DATABASE {name} TO ringfence_owner")
    named = queries("postgres")
    with psycopg.connect(cluster.url(name, user="mover"), autocommit=True) as old:
        old.execute("SET ROLE ringfence_owner")
        old.execute(named["create_schema"].encode())
        old.execute(named["create_versions"].encode())
        old.execute("SET search_path = ringfence, pg_temp")
        for step in migrations("postgres")[:version]:
            old.execute(step.script.encode())
            old.execute("INSERT INTO schema_versions VALUES (%s, %s, '2029')", (step.version, step.name))
    with psycopg.connect(cluster.url(name), autocommit=True) as one:
        one.execute("SET session_replication_role = replica")
        for table, (columns, values) in rows.items():
            known = _postgres_table(one, table)[0]
            if known:
                _insert_postgres(one, table, columns, values, known)
    return name


def _postgres_table(one: psycopg.Connection[Any], table: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    columns = tuple(name for (name,) in one.execute(_COLUMNS, (table,)))
    listed = ", ".join(f'"{column}"' for column in columns)
    found = one.execute(f"SELECT {listed} FROM ringfence.{table}".encode()).fetchall() if columns else []
    return columns, found


def _insert_postgres(
    one: psycopg.Connection[Any], table: str, columns: Sequence[str], values: Sequence[Any], known: Sequence[str]
) -> None:
    kept = [number for number, column in enumerate(columns) if column in known]
    listed = ", ".join(f'"{columns[number]}"' for number in kept)
    marks = ", ".join("%s" for _ in kept)
    into = f"INSERT INTO ringfence.{table} ({listed}) OVERRIDING SYSTEM VALUE VALUES ({marks})".encode()
    for row in values:
        one.execute(into, tuple(row[number] for number in kept))
    for column in known:
        sequence = one.execute("SELECT pg_get_serial_sequence(%s, %s)", (f"ringfence.{table}", column)).fetchone()
        if sequence and sequence[0]:
            highest = f'SELECT setval(%s, coalesce((SELECT max("{column}") FROM ringfence.{table}), 0) + 1)'
            one.execute(highest.encode(), (sequence[0],))
