"""The SQLite store: one file that keeps calls, votes, pins, sessions and the trail.

Takes: a path, the key that signs checkpoints, the anchor's path, a clock.  Gives: every protocol of a store.
Never: offers a way to write that is not one of these methods.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence.errors import RingfenceError
from ringfence.store.anchor import Anchor
from ringfence.store.bodies import SqliteBodies
from ringfence.store.database import Database, open_database
from ringfence.store.freezes import SqliteFreezes
from ringfence.store.inbox import SqliteInbox
from ringfence.store.journal import SqliteJournal
from ringfence.store.pins import SqlitePins
from ringfence.store.rows import stamp
from ringfence.store.sessions import SqliteSessions
from ringfence.store.standing import SqliteGrants
from ringfence.store.trail import SqliteTrail, has_checkpoints


class SqliteStore:
    """`Journal`, `Inbox`, `Trail`, `Pins` and sessions over one file."""

    def __init__(
        self,
        database: Database,
        *,
        signing_key: Ed25519PrivateKey,
        anchor: Anchor | None,
        now: Callable[[], datetime],
    ) -> None:
        self.database = database
        journal = SqliteJournal(database, now=now)
        self.refuse = journal.refuse
        self.ask = journal.ask
        self.start = journal.start
        self.finish = journal.finish
        self.withdraw = journal.withdraw
        self.recorded = journal.recorded
        self.latest_like = journal.latest_like
        inbox = SqliteInbox(database, now=now)
        self.pending_approvals = inbox.pending_approvals
        self.approval = inbox.approval
        self.cast = inbox.cast
        self.expire_due = inbox.expire_due
        grants = SqliteGrants(database, now=now)
        self.give = grants.give
        self.sign = grants.sign
        self.revoke = grants.revoke
        self.standing_grant = grants.standing_grant
        self.standing_grants = grants.standing_grants
        self.open_grants = grants.open_grants
        freezes = SqliteFreezes(database, now=now)
        self.freeze = freezes.freeze
        self.unfreeze = freezes.unfreeze
        self.freezes = freezes.freezes
        self.knows_tool = freezes.knows_tool
        trail = SqliteTrail(database, signing_key=signing_key, anchor=anchor, now=now)
        self.append = trail.append
        self.checkpoint = trail.checkpoint
        self.verify = trail.verify
        self.position = trail.position
        self.links = trail.links
        self.bundle = trail.bundle
        bodies = SqliteBodies(database)
        self.removable = bodies.removable
        self.remove_bodies = bodies.remove_bodies
        pins = SqlitePins(database, now=now)
        self.pins = pins.pins
        self.ledger_version = pins.ledger_version
        self.ledger = pins.ledger
        self.contracts = pins.contracts
        self.accept = pins.accept
        self.record_registrations = pins.record_registrations
        self.open_session = SqliteSessions(database, now=now).open_session

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

    async def close(self) -> None:
        """Finish what was begun and let the file go."""
        await self.database.close()
