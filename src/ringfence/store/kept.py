"""A whole store over one database, whichever it is.

Takes: an engine, the key that signs checkpoints, the anchor, a clock.  Gives: every protocol of a store.
Never: offers a way to write that is not one of these methods.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence.store.anchor import Anchor
from ringfence.store.bodies import KeptBodies
from ringfence.store.engine import Engine
from ringfence.store.freezes import KeptFreezes
from ringfence.store.inbox import KeptInbox
from ringfence.store.journal import KeptJournal
from ringfence.store.pins import KeptPins
from ringfence.store.sessions import KeptSessions
from ringfence.store.spending import KeptSpending
from ringfence.store.standing import KeptGrants
from ringfence.store.storage import KeptStorage
from ringfence.store.trail import KeptTrail
from ringfence.store.workers import KeptWorkers


class KeptStore:
    """`Journal`, `Inbox`, `Trail`, `Pins` and sessions over one database."""

    def __init__(
        self,
        engine: Engine,
        *,
        signing_key: Ed25519PrivateKey,
        anchor: Anchor | None,
        now: Callable[[], datetime],
    ) -> None:
        self._engine = engine
        self.worker = secrets.token_hex(16)
        journal = KeptJournal(engine, now=now, worker=self.worker)
        self.refuse = journal.refuse
        self.ask = journal.ask
        self.start = journal.start
        self.finish = journal.finish
        self.withdraw = journal.withdraw
        self.settle = journal.settle
        self.reserved = journal.reserved
        self.calls = journal.calls
        self.recorded = journal.recorded
        self.latest_like = journal.latest_like
        self.spent = KeptSpending(engine, now=now).spent
        workers = KeptWorkers(engine, now=now, worker=self.worker)
        self.enlist = workers.enlist
        self.end_lost = workers.end_lost
        inbox = KeptInbox(engine, now=now)
        self.pending_approvals = inbox.pending_approvals
        self.approval = inbox.approval
        self.cast = inbox.cast
        self.expire_due = inbox.expire_due
        grants = KeptGrants(engine, now=now)
        self.give = grants.give
        self.sign = grants.sign
        self.revoke = grants.revoke
        self.standing_grant = grants.standing_grant
        self.standing_grants = grants.standing_grants
        self.open_grants = grants.open_grants
        freezes = KeptFreezes(engine, now=now)
        self.freeze = freezes.freeze
        self.unfreeze = freezes.unfreeze
        self.freezes = freezes.freezes
        self.knows_tool = freezes.knows_tool
        trail = KeptTrail(engine, signing_key=signing_key, anchor=anchor, now=now)
        self.append = trail.append
        self.checkpoint = trail.checkpoint
        self.verify = trail.verify
        self.position = trail.position
        self.news = trail.news
        self.links = trail.links
        self.bundle = trail.bundle
        bodies = KeptBodies(engine)
        self.removable = bodies.removable
        self.remove_bodies = bodies.remove_bodies
        self.open_session = KeptSessions(engine, now=now).open_session
        self.storage = KeptStorage(engine, now=now)
        self._keep_pins(KeptPins(engine, now=now))

    def _keep_pins(self, pins: KeptPins) -> None:
        self.pins = pins.pins
        self.ledger_version = pins.ledger_version
        self.ledger = pins.ledger
        self.contracts = pins.contracts
        self.accept = pins.accept
        self.record_registrations = pins.record_registrations

    async def close(self) -> None:
        """Finish what was begun and let the database go."""
        await self._engine.close()
