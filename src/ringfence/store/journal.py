"""Keeps calls: each move is one transaction with the warrant it consumes and the events it makes.

Takes: moves of an invocation.  Gives: the move on record, or the rule that refused it.
Never: decides; the rules are the database's, and this only says which row should move where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Literal

from ringfence.approvals.inbox import Approval
from ringfence.approvals.warrant import Warrant
from ringfence.audit.chain import spell
from ringfence.audit.events import AuditEvent
from ringfence.errors import CallRefused, Misuse
from ringfence.policy.quotas import Draw
from ringfence.policy.spending import Spend
from ringfence.runtime.invocation import KEY_LIFETIME, MOVES, Ending, Invocation, Recorded, Reserved, Status
from ringfence.store import spending
from ringfence.store.engine import Durability, Engine, Transaction
from ringfence.store.quotas import draw_refusal, require_tokens
from ringfence.store.rows import approval_row, invocation_row, recorded_from, stamp


class KeptJournal:
    """The `Journal` over either database."""

    def __init__(self, database: Engine, *, now: Callable[[], datetime], worker: str) -> None:
        self._database = database
        self._now = now
        self._worker = worker

    async def refuse(self, invocation: Invocation, *, code: str, events: Sequence[AuditEvent]) -> None:
        now = self._now()

        def work(transaction: Transaction) -> None:
            _propose_or_continue(transaction, invocation, to=Status.REFUSED)
            transaction.run("refuse", invocation.id, code, stamp(now))
            draw_refusal(transaction, session=invocation.session, now=now)
            transaction.record(events)

        await self._database.write(work, durability="normal")

    async def ask(self, invocation: Invocation, *, approval: Approval, events: Sequence[AuditEvent]) -> None:
        if approval.invocation_id != invocation.id:
            raise Misuse("the request for votes is about another call")

        def work(transaction: Transaction) -> None:
            _propose_or_continue(transaction, invocation, to=Status.PENDING)
            transaction.run("ask", *approval_row(approval))
            transaction.record(events)

        await self._database.write(work, durability="full")

    async def start(
        self,
        invocation: Invocation,
        *,
        warrant: Warrant,
        durability: Durability,
        events: Sequence[AuditEvent],
        key_for: timedelta | None = KEY_LIFETIME,
        draws: Sequence[Draw] = (),
        spends: Sequence[Spend] = (),
    ) -> None:
        if warrant.invocation_id != invocation.id:
            raise CallRefused("the warrant is for another call", code="approval_void")
        if warrant.basis == "standing" and not warrant.grants:
            raise CallRefused("the warrant rests on no standing grant", code="approval_void")
        now = self._now()
        at, until = stamp(now), None if key_for is None else stamp(now + key_for)

        def work(transaction: Transaction) -> None:
            require_tokens(transaction, draws, session=invocation.session, now=now)
            _propose_or_continue(transaction, invocation, to=Status.RUNNING)
            spending.reserve(transaction, spends, invocation_id=invocation.id, now=now)
            for grant in warrant.grants:
                transaction.run("use_grant", grant, warrant.invocation_id, at)
            # The uses beside it say that an allowed call rests on standing grants.
            basis = "allowed" if warrant.basis == "standing" else warrant.basis
            used = (warrant.invocation_id, basis, warrant.approval_id, warrant.digest, at, until, self._worker)
            transaction.run("use_warrant", *used)
            transaction.record(events)

        await self._database.write(work, durability=durability)

    async def finish(
        self, invocation_id: str, *, ending: Ending, durability: Durability, events: Sequence[AuditEvent]
    ) -> None:
        at = stamp(self._now())
        await self._database.write(
            lambda transaction: end(transaction, invocation_id, ending, at=at, events=events), durability=durability
        )

    async def settle(
        self,
        invocation_id: str,
        *,
        ending: Ending,
        events: Sequence[AuditEvent],
        role: Literal["operator", "application"] = "operator",
    ) -> None:
        at = stamp(self._now())

        def work(transaction: Transaction) -> None:
            recorded = _recorded(transaction, invocation_id)
            if recorded is None or recorded.status is not Status.IN_DOUBT:
                raise Misuse(f"call `{invocation_id}` is not in doubt", remedy="`ringfence calls list` shows which are")
            end(transaction, invocation_id, ending, at=at, events=events)

        await self._database.write(work, durability="full", role=role)

    async def withdraw(
        self,
        invocation_id: str,
        *,
        to: Literal[Status.VOID, Status.EXPIRED, Status.CANCELLED],
        code: str,
        events: Sequence[AuditEvent],
    ) -> None:
        at = stamp(self._now())

        def work(transaction: Transaction) -> None:
            row = transaction.run("standing_of_call", invocation_id).fetchone()
            if row is None:
                raise Misuse(f"there is no call `{invocation_id}`")
            _require_move(Status(row[0]), to=to)
            moved = 0
            if to is not Status.CANCELLED:
                moved = transaction.run("withdraw_request", invocation_id, to.value, code, at).rowcount
            if not moved:
                transaction.run("withdraw_call", invocation_id, to.value, code, at)
            transaction.record(events)

        await self._database.write(work, durability="full")

    async def reserved(self, *, agent: str, tool: str, key: str) -> Reserved | None:
        def work(transaction: Transaction) -> Reserved | None:
            row = transaction.run("key", agent, tool, key).fetchone()
            if row is None:
                return None
            invocation_id, digest, expires_at = row
            recorded = _recorded(transaction, invocation_id)
            if recorded is None:
                return None
            return Reserved(recorded=recorded, arguments_digest=digest, expires_at=datetime.fromisoformat(expires_at))

        return await self._database.read(work)

    async def calls(
        self, *, status: Status | None = None, agent: str | None = None, limit: int
    ) -> tuple[Recorded, ...]:
        wanted = None if status is None else status.value
        return await self._database.read(
            lambda transaction: tuple(map(recorded_from, transaction.run("calls", wanted, agent, limit)))
        )

    async def recorded(self, invocation_id: str) -> Recorded | None:
        return await self._database.read(lambda transaction: _recorded(transaction, invocation_id))

    async def latest_like(self, *, session: str, tool: str, arguments_digest: str) -> Recorded | None:
        def work(transaction: Transaction) -> Recorded | None:
            found = transaction.run("latest_like", session, tool, arguments_digest).fetchone()
            return None if found is None else _recorded(transaction, found[0])

        return await self._database.read(work)


def end(transaction: Transaction, invocation_id: str, ending: Ending, *, at: str, events: Sequence[AuditEvent]) -> None:
    """Move a call to its end, with its events."""
    outcome = spell(ending.outcome)
    row = (invocation_id, ending.status.value, ending.code, outcome, ending.cost_estimate, at)
    if transaction.run("finish", *row).rowcount != 1:
        raise Misuse(f"there is no call `{invocation_id}`")
    if ending.spent is not None:
        spending.settle(transaction, ending.spent, invocation_id=invocation_id, at=at)
    transaction.record(events)


def _propose_or_continue(transaction: Transaction, invocation: Invocation, *, to: Status) -> None:
    """Put a new call on record, or see that the one on record is this one and can still move."""
    if transaction.run("propose", *invocation_row(invocation)).rowcount == 1:
        return
    status, *kept = transaction.run("standing_of_call", invocation.id).fetchone()
    _require_move(Status(status), to=to)
    given = [
        invocation.tool,
        invocation.fingerprint,
        invocation.arguments_digest,
        invocation.agent,
        invocation.session,
    ]
    if kept != given:
        raise CallRefused("the call is not the one on record under its id", code="approval_void")


def _require_move(status: Status, *, to: Status) -> None:
    if to in MOVES.get(status, frozenset()):
        return
    raise CallRefused(
        f"the call is `{status}` and cannot become `{to}`",
        code="in_flight" if status is Status.RUNNING else "approval_void",
    )


def _recorded(transaction: Transaction, invocation_id: str) -> Recorded | None:
    row = transaction.run("recorded", invocation_id).fetchone()
    return None if row is None else recorded_from(row)
