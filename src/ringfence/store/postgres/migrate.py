"""Brings a PostgreSQL database to the schema this code knows: forward only, one process at a time, as the owner.

Takes: a login that has the role of the owner.  Gives: a database of the current version, with each role's rights.
Never: touches a schema that is newer than the code or that is not ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import psycopg

from ringfence.errors import RingfenceError
from ringfence.store.postgres.faults import translated
from ringfence.store.postgres.login import Connection, Login, require_known_version, schema_version
from ringfence.store.queries import migrations, queries


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Which schema a database has, and which this code knows."""

    where: str
    version: int
    known: int


def role_sql() -> str:
    """The statements that make the four roles; for somebody who may create roles."""
    return (files("ringfence.store") / "sql" / "postgres" / "roles.sql").read_text(encoding="utf-8")


def standing(login: Login) -> Standing:
    """How a database stands, without changing it."""
    with _opened(login) as connection:
        return Standing(where=login.shown, version=schema_version(connection), known=len(migrations("postgres")))


def migrate(login: Login, *, at: str) -> Standing:
    """Apply every migration that is missing, all of them or none, and give each role its rights anew."""
    with _opened(login) as connection:
        _become_owner(connection, login=login)
        try:
            with connection.transaction():
                connection.execute(queries("postgres")["hold_migrations"].encode())
                _advance(connection, at=at, where=login.shown)
        except psycopg.Error as error:
            raise translated(error) from error
        return Standing(where=login.shown, version=schema_version(connection), known=len(migrations("postgres")))


def _opened(login: Login) -> Connection:
    return login.open()


def _become_owner(connection: Connection, *, login: Login) -> None:
    try:
        connection.execute("SET ROLE ringfence_owner")
    except psycopg.Error as error:
        raise RingfenceError(
            f"this login of `{login.shown}` cannot act as `ringfence_owner`",
            code="config_invalid",
            remedy="run what `ringfence db role-sql` prints, then grant `ringfence_owner` to a login for migrations",
        ) from error


def _advance(connection: Connection, *, at: str, where: str) -> None:
    named = queries("postgres")
    row = connection.execute(named["schema_exists"].encode()).fetchone()
    has_schema, has_versions = row or (False, False)
    if has_schema and not has_versions:
        raise RingfenceError(
            f"the schema `ringfence` of `{where}` is something else's",
            code="config_invalid",
            remedy="name a database of its own",
        )
    if not has_schema:
        connection.execute(named["create_schema"].encode())
        connection.execute(named["create_versions"].encode())
    version = schema_version(connection)
    require_known_version(version, where=where)
    for step in migrations("postgres")[version:]:
        connection.execute(step.script.encode())
        connection.execute(named["insert_version"].encode(), (step.version, step.name, at))
    connection.execute((files("ringfence.store") / "sql" / "postgres" / "grants.sql").read_bytes())
    connection.execute(named["level_offset"].encode())
