"""Opens the store that a config names: a file of SQLite, or a database of PostgreSQL.

Takes: a config and a clock.  Gives: an open store.
Never: loads the driver of a database that is not named, and never signs a trail that another key has signed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from importlib.util import find_spec

from ringfence.assembly.config import Config
from ringfence.assembly.config.store_urls import is_postgres
from ringfence.assembly.signing import load_signing_key
from ringfence.errors import RingfenceError
from ringfence.store.kept import KeptStore
from ringfence.store.sqlite import SqliteStore


def open_store(config: Config, *, now: Callable[[], datetime]) -> KeptStore:
    """The store, of the current schema and ready to use."""
    config.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    if is_postgres(config.store_url):
        return _open_postgres(config, now=now)
    key = load_signing_key(config.audit.signing_key, store=config.store_file)
    return SqliteStore.open(config.store_file, signing_key=key, anchor=config.audit.anchor, now=now)


def require_driver() -> None:
    """Say what to install where PostgreSQL is named and its driver is not there."""
    if find_spec("psycopg") is None:
        raise RingfenceError(
            "the store is PostgreSQL, and its driver is not installed",
            code="config_invalid",
            remedy="`pip install 'ringfence[postgres]'`",
        )


def _open_postgres(config: Config, *, now: Callable[[], datetime]) -> KeptStore:
    require_driver()
    # In-function import: the driver is an extra, and a file needs none of it.
    from ringfence.store.postgres import PostgresStore

    # A key is made where none is: whether the trail was signed with another, the store says.
    key = load_signing_key(config.audit.signing_key, store=config.store_file)
    return PostgresStore.open(config.store_url, signing_key=key, anchor=config.audit.anchor, now=now)
