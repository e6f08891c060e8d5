"""Keeps requests for votes: a vote, what it makes of the request, and the call's move are one transaction.

Takes: votes.  Gives: requests as they stand.  Never: counts a vote that the database did not admit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from ringfence.approvals.inbox import Approval, ApprovalStatus, Vote, tally
from ringfence.audit.events import AuditEvent
from ringfence.errors import VoteRefused
from ringfence.store.engine import Engine, Transaction
from ringfence.store.rows import approval_from, stamp, vote_row

_CODES = {ApprovalStatus.REJECTED: "approval_rejected", ApprovalStatus.EXPIRED: "approval_expired"}


class KeptInbox:
    """The `Inbox` over either database."""

    def __init__(self, database: Engine, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    async def pending_approvals(self) -> tuple[Approval, ...]:
        at = stamp(self._now())
        return await self._database.read(lambda transaction: _approvals(transaction, "open_approvals", at))

    async def approval(self, approval_id: str) -> Approval | None:
        return await self._database.read(lambda transaction: _approval(transaction, approval_id))

    async def cast(self, vote: Vote, *, tell: Callable[[ApprovalStatus], Iterable[AuditEvent]]) -> Approval:
        now = self._now()

        def work(transaction: Transaction) -> Approval:
            transaction.run("hold_approval", vote.approval_id)
            before = _approval(transaction, vote.approval_id)
            if before is None:
                raise VoteRefused(f"there is no request `{vote.approval_id}`")
            if now >= before.expires_at:
                raise VoteRefused("the request has expired, and silence is refusal")
            transaction.run("vote", *vote_row(vote))
            status = tally(before, vote)
            if status is not ApprovalStatus.PENDING:
                _resolve(transaction, before, status=status, at=stamp(now))
            transaction.record(tell(status))
            return replace(before, status=status, votes=(*before.votes, vote))

        return await self._database.write(work, durability="full", role="approver")

    async def expire_due(
        self, now: datetime, *, tell: Callable[[Approval], Iterable[AuditEvent]]
    ) -> tuple[Approval, ...]:
        """Move every request whose time is over, and its call, to expired; one approved and never used is void."""
        at = stamp(now)

        def look(transaction: Transaction) -> tuple[Approval, ...]:
            return _approvals(transaction, "overdue_approvals", at)

        def work(transaction: Transaction) -> tuple[Approval, ...]:
            due = look(transaction)
            for approval in due:
                _expire(transaction, approval, at=at)
                transaction.record(tell(approval))
            return due

        # Nearly always nothing is due, and then nothing need be written.
        return await self._database.write(work, durability="full") if await self._database.read(look) else ()


def _resolve(transaction: Transaction, approval: Approval, *, status: ApprovalStatus, at: str) -> None:
    transaction.run("resolve", approval.id, status.value, _CODES.get(status), at)


def _expire(transaction: Transaction, approval: Approval, *, at: str) -> None:
    status = ApprovalStatus.EXPIRED if approval.status is ApprovalStatus.PENDING else ApprovalStatus.VOID
    transaction.run("resolve", approval.id, status.value, _CODES[ApprovalStatus.EXPIRED], at)


def _approval(transaction: Transaction, approval_id: str) -> Approval | None:
    row = transaction.run("approval", approval_id).fetchone()
    return None if row is None else approval_from(row)


def _approvals(transaction: Transaction, name: str, at: str) -> tuple[Approval, ...]:
    return tuple(approval_from(row) for row in transaction.run(name, at))
