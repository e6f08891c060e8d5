"""The SQLite store: one file that keeps calls, votes, pins, sessions and the trail.

Takes: a path, the key that signs checkpoints, the anchor's path, a clock.  Gives: every protocol of a store.
Never: opens a file that is not its own.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence.errors import RingfenceError
from ringfence.store.anchor import Anchor
from ringfence.store.database import Database, open_database
from ringfence.store.kept import KeptStore
from ringfence.store.rows import stamp
from ringfence.store.trail import has_checkpoints


class SqliteStore(KeptStore):
    """A store over one file."""

    def __init__(
        self,
        database: Database,
        *,
        signing_key: Ed25519PrivateKey,
        anchor: Anchor | None,
        now: Callable[[], datetime],
    ) -> None:
        super().__init__(database, signing_key=signing_key, anchor=anchor, now=now)
        self.database = database

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        signing_key: Ed25519PrivateKey,
        anchor: Path | str | None,
        now: Callable[[], datetime],
        patience: float = 5.0,
    ) -> SqliteStore:
        """Open or make the file; `patience` is how long another process may hold it, in seconds."""
        database = open_database(Path(path), at=stamp(now()), patience=patience)
        file = None if anchor is None else Anchor(Path(anchor))
        try:
            if file is not None and not database.writer_lane.read(has_checkpoints):
                file.create()
        except RingfenceError:
            database.close_now()
            raise
        return cls(database, signing_key=signing_key, anchor=file, now=now)
