"""Takes from caps in the transaction that starts a call, and settles what it took where it ends.

Takes: what a call spends.  Gives: nothing, or the refusal with what is left.
Never: gives anything back for a call that ran; a start that is undone undoes what it took.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from ringfence.agents.spending import SpendCap, spelled
from ringfence.errors import CallRefused
from ringfence.policy.spending import Spend, whole
from ringfence.runtime.invocation import Spent
from ringfence.store.engine import Engine, Reading, Transaction


class KeptSpending:
    """What was spent, over either database."""

    def __init__(self, database: Engine, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    async def spent(self, caps: Sequence[tuple[str, SpendCap]], *, agent: str) -> tuple[int, ...]:
        """What is taken from each cap now, in billionths."""
        at = self._now().timestamp()
        return await self._database.read(
            lambda reading: tuple(_taken(reading, agent=agent, binding=on, cap=cap, at=at) for on, cap in caps)
        )


def reserve(transaction: Transaction, spends: Sequence[Spend], *, invocation_id: str, now: datetime) -> None:
    """Take from every cap, or say which leaves too little; always in one order, so that no two wait for each other."""
    at = now.timestamp()
    for spend in sorted(spends, key=lambda each: (each.binding, each.cap.name)):
        left = spend.most - _taken(transaction, agent=spend.agent, binding=spend.binding, cap=spend.cap, at=at)
        if spend.taken > left:
            raise _too_little(spend, left=left)
        since = at - spend.cap.seconds
        row = (spend.agent, spend.binding, spend.cap.name, invocation_id, spend.basis, spend.taken, spend.most)
        transaction.run("spend", *row, since, at)


def settle(transaction: Transaction, spent: Spent, *, invocation_id: str, at: str) -> None:
    """What the call came to in the end."""
    if spent == "nothing":
        transaction.run("give_back", invocation_id, at)
    else:
        transaction.run("settle_cost", invocation_id, spent, at)


def _taken(reading: Reading, *, agent: str, binding: str, cap: SpendCap, at: float) -> int:
    return int(reading.run("spent", agent, binding, cap.name, at - cap.seconds).fetchone()[0])


def _too_little(spend: Spend, *, left: int) -> CallRefused:
    cap = spend.cap
    most, rest = spelled(cap.most), spelled(whole(max(0, left)))
    message = f"`{cap.tools}` may spend {most} per {cap.per}, of which {rest} are left, and this call may take "
    return CallRefused(message + spelled(whole(spend.taken)), code="spend_cap_reached")
