"""How this process signs in to PostgreSQL, and which logins it refuses to run as.

Takes: the address of a database.  Gives: connections that act as the application.
Never: runs as a superuser or as somebody who owns a table, and never touches a schema that is newer than the code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ringfence.errors import RingfenceError, TrailUnavailable
from ringfence.store.postgres.faults import translated
from ringfence.store.queries import migrations, queries

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
OLDEST_SERVER = 150_000
_CONNECT_SECONDS = 5


@dataclass(frozen=True, kw_only=True)
class Login:
    """One address; `patience` is how long a statement may wait for another's lock, in seconds."""

    url: str
    patience: float = 5.0

    @property
    def shown(self) -> str:
        """The database without the password."""
        try:
            known = conninfo_to_dict(self.url)
        except psycopg.Error:
            return "the database of `store.url`"
        return f"postgresql://{known.get('host', '')}/{known.get('dbname', '')}"

    def connect(self) -> Connection:
        """A connection that acts as the application."""
        connection = self.open()
        try:
            connection.execute("SET ROLE ringfence_application")
        except psycopg.Error as error:
            connection.close()
            raise translated(error) from error
        return connection

    def open(self) -> Connection:
        """A connection as whoever signs in."""
        wait = max(1, round(self.patience * 1000))
        options = f"-c search_path=ringfence,pg_temp -c lock_timeout={wait} -c timezone=UTC -c client_encoding=UTF8"
        try:
            return psycopg.connect(
                self.url,
                autocommit=True,
                connect_timeout=_CONNECT_SECONDS,
                options=options,
                cursor_factory=psycopg.RawCursor,
                application_name="ringfence",
                keepalives_idle=5,
                keepalives_interval=2,
                keepalives_count=3,
                tcp_user_timeout=10_000,
            )
        except psycopg.Error as error:
            raise TrailUnavailable(f"the store `{self.shown}` cannot be reached: {_first_line(error)}") from error


def require_usable(login: Login) -> None:
    """Refuse to run where the rules could be passed by, or where the schema is not the one this code knows."""
    connection = login.open()
    try:
        _require_version(connection, login=login)
        _require_humble(connection, login=login)
    except psycopg.Error as error:
        raise translated(error) from error
    finally:
        connection.close()


def schema_version(connection: Connection) -> int:
    """The version on record; 0 where there is none."""
    named = queries("postgres")
    row = connection.execute(named["schema_exists"].encode()).fetchone()
    if row is None or not row[1]:
        return 0
    found = connection.execute(named["version"].encode()).fetchone()
    return 0 if found is None else int(found[0])


def require_known_version(version: int, *, where: str) -> None:
    known = len(migrations("postgres"))
    if version > known:
        raise RingfenceError(
            f"the store `{where}` has schema {version}, and this version knows {known}",
            code="config_invalid",
            remedy="run the version that wrote it, or a newer one; schemas only move forward",
        )


def _require_version(connection: Connection, *, login: Login) -> None:
    if connection.info.server_version < OLDEST_SERVER:
        raise RingfenceError(
            f"PostgreSQL {connection.info.server_version // 10_000} is too old",
            code="config_invalid",
            remedy="use PostgreSQL 15 or newer",
        )
    version = schema_version(connection)
    require_known_version(version, where=login.shown)
    if version < len(migrations("postgres")):
        raise RingfenceError(
            f"the store `{login.shown}` has schema {version}, and this version needs {len(migrations('postgres'))}",
            code="config_invalid",
            remedy="run `ringfence db migrate` with a login that has the role `ringfence_owner`",
        )


def _require_humble(connection: Connection, *, login: Login) -> None:
    row = connection.execute(queries("postgres")["standing_of_login"].encode()).fetchone()
    if row is None:
        raise TrailUnavailable(f"the store `{login.shown}` does not say who signs in")
    name, superuser, owned, member = row
    if superuser or owned:
        why = "is a superuser" if superuser else "owns its tables"
        raise RingfenceError(
            f"`{name}` {why}, and could pass by every rule of the store",
            code="config_invalid",
            remedy="sign in as a login that has `ringfence_application` alone; see `ringfence db role-sql`",
        )
    if not member:
        raise RingfenceError(
            f"`{name}` may not act as `ringfence_application`",
            code="config_invalid",
            remedy=f"grant it: `GRANT ringfence_application TO {name}`; see `ringfence db role-sql`",
        )


def _first_line(error: psycopg.Error) -> str:
    return (str(error).strip().splitlines() or ["no reason given"])[0]
