"""The schema of a store, for whoever looks after it: how it stands, and bringing it forward.

Takes: the address of a store.  Gives: which schema it has and which this version knows.
Never: migrates a server as anybody but its owner; a file belongs to whoever has it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ringfence.assembly.config import Config
from ringfence.assembly.config.store_urls import is_postgres
from ringfence.assembly.storing import require_driver
from ringfence.store.database import open_database
from ringfence.store.migrate import file_version
from ringfence.store.queries import migrations
from ringfence.store.rows import stamp


@dataclass(frozen=True, kw_only=True)
class Schema:
    """A store's schema beside the one this version knows; 0 is none yet."""

    store: str
    version: int
    known: int

    @property
    def is_current(self) -> bool:
        return self.version == self.known


def schema_of(config: Config, *, url: str | None = None) -> Schema:
    """How a store stands, without changing it."""
    address = url or config.store_url
    if not is_postgres(address):
        return _of_file(config.store_file)
    require_driver()
    # In-function import: the driver is an extra.
    from ringfence.store.postgres.login import Login
    from ringfence.store.postgres.migrate import standing

    found = standing(Login(url=address))
    return Schema(store=found.where, version=found.version, known=found.known)


def bring_forward(config: Config, *, now: Callable[[], datetime], url: str | None = None) -> Schema:
    """Apply every migration that is missing; `url` is a login that has the role of the owner."""
    address = url or config.store_url
    if not is_postgres(address):
        config.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        open_database(config.store_file, at=stamp(now()), patience=5.0).close_now()
        return _of_file(config.store_file)
    require_driver()
    # In-function import: the driver is an extra.
    from ringfence.store.postgres.login import Login
    from ringfence.store.postgres.migrate import migrate

    found = migrate(Login(url=address), at=stamp(now()))
    return Schema(store=found.where, version=found.version, known=found.known)


def role_sql() -> str:
    """The statements that make the four roles of a PostgreSQL store."""
    require_driver()
    # In-function import: the driver is an extra.
    from ringfence.store.postgres.migrate import role_sql as spelled

    return spelled()


def _of_file(file: Path) -> Schema:
    version = 0
    if file.exists():
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            version = file_version(connection, path=str(file))
    return Schema(store=str(file), version=version, known=len(migrations("sqlite")))
