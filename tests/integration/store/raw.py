"""A store's files, and a plain connection to them for tests that go behind the store's back."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence.store import SqliteStore
from ringfence.testing.store_samples import Clock

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a store lives, and the key that signs for it."""

    folder: Path
    clock: Clock = field(default_factory=Clock)
    key: Ed25519PrivateKey = KEY

    @property
    def path(self) -> Path:
        return self.folder / "ringfence.db"

    @property
    def anchor(self) -> Path:
        return self.folder / "anchor.log"

    def open(self, **changes: Any) -> SqliteStore:
        settings: dict[str, Any] = {"signing_key": self.key, "anchor": self.anchor, "now": self.clock, **changes}
        return SqliteStore.open(self.path, **settings)

    @contextmanager
    def raw(self) -> Generator[sqlite3.Connection, None, None]:
        connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def unguarded(self) -> Generator[sqlite3.Connection, None, None]:
        """A connection to a store whose triggers are gone: the whole file in a stranger's hands."""
        with self.raw() as connection:
            names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for (name,) in names:
                connection.execute(f"DROP TRIGGER {name}")
            yield connection


def refused(connection: sqlite3.Connection, statement: str, *parameters: Any) -> str:
    """What the database says to a statement that it must refuse."""
    try:
        connection.execute(statement, parameters)
    except sqlite3.IntegrityError as error:
        return str(error)
    raise AssertionError(f"the database let this pass: {statement} {parameters}")
