"""The PostgreSQL store: one database that any number of processes on any number of machines share.

Takes: an address, the key that signs checkpoints, the anchor's path, a clock.  Gives: every protocol of a store.
Never: changes the schema; that is `ringfence db migrate`, as the owner.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence.audit.checkpoint import Checkpoint, is_signed
from ringfence.errors import RingfenceError
from ringfence.store.anchor import Anchor
from ringfence.store.kept import KeptStore
from ringfence.store.postgres.database import PostgresDatabase
from ringfence.store.postgres.journal import PostgresJournal
from ringfence.store.postgres.lane import PostgresLane
from ringfence.store.postgres.login import Login, require_usable
from ringfence.store.trail import last_checkpoint


class PostgresStore(KeptStore):
    """A store over one database."""

    def __init__(
        self,
        database: PostgresDatabase,
        *,
        signing_key: Ed25519PrivateKey,
        anchor: Anchor | None,
        now: Callable[[], datetime],
    ) -> None:
        super().__init__(database, signing_key=signing_key, anchor=anchor, now=now)
        self.database = database
        journal = PostgresJournal(database, now=now, worker=self.worker)
        self.start = journal.start
        self.finish = journal.finish
        self.ledger_version = self._ledger_version

    @classmethod
    def open(
        cls,
        url: str,
        *,
        signing_key: Ed25519PrivateKey,
        anchor: Path | str | None,
        now: Callable[[], datetime],
        patience: float = 5.0,
    ) -> PostgresStore:
        """Open a database that is of the current schema, as a login that cannot pass by its rules."""
        login = Login(url=url, patience=patience)
        require_usable(login)
        file = None if anchor is None else Anchor(Path(anchor))
        last = _last_checkpoint(login)
        if last is None and file is not None:
            file.create()
        if last is not None and not is_signed(last, key=signing_key.public_key()):
            raise RingfenceError(
                f"the trail of `{login.shown}` is signed with another key than `audit.signing_key`",
                code="config_invalid",
                remedy="every process that shares a store signs with one key: copy it from where the store was begun",
            )
        return cls(PostgresDatabase(login), signing_key=signing_key, anchor=file, now=now)

    async def _ledger_version(self) -> int:
        """Asked before every call, and so the short way."""
        return int(await self.database.ask("ledger_version") or 0)


def _last_checkpoint(login: Login) -> Checkpoint | None:
    lane = PostgresLane(login)
    try:
        return lane.read(last_checkpoint)
    finally:
        lane.close()
