"""Who may run next: a bound on calls at once, a bound on those that wait, and every agent in turn.

Takes: an agent's name.  Gives: a turn, or `queue_full`.  Never: lets one agent's queue hold up another's, or fill the
room in which another's would wait.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque

from ringfence.errors import CallRefused


class Turns:
    """Counts calls; agents that wait are served one call each, round and round."""

    def __init__(self, *, running: int, waiting: int) -> None:
        self._free = running
        self._most_waiting = waiting
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        return sum(map(len, self._queues.values()))

    async def take(self, agent: str) -> None:
        """Wait for a turn; whoever has one passes it on."""
        if self._free > 0:
            self._free -= 1
            return
        if self.waiting >= self._most_waiting:
            self._make_room(agent)
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(agent, deque()).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            self._leave(agent, mine)
            raise

    def _make_room(self, agent: str) -> None:
        """The longest queue gives up its last place; `queue_full` to whoever has the longest."""
        longest = max(self._queues, key=lambda name: len(self._queues[name]), default=agent)
        if len(self._queues.get(agent, ())) + 1 >= len(self._queues.get(longest, ())):
            raise self._full()
        last = self._queues[longest].pop()
        if not last.done():
            last.set_exception(self._full())

    def _full(self) -> CallRefused:
        return CallRefused(f"{self._most_waiting} calls wait already", code="queue_full")

    def _leave(self, agent: str, mine: asyncio.Future[None]) -> None:
        if mine.done() and not mine.cancelled():
            # The turn came in the same moment; it must not be lost.
            self.pass_on()
            return
        queue = self._queues.get(agent, deque())
        if mine in queue:
            queue.remove(mine)
        if not queue:
            self._queues.pop(agent, None)

    def pass_on(self) -> None:
        """Give the turn to the next agent that waits."""
        while self._queues:
            agent, queue = next(iter(self._queues.items()))
            following = queue.popleft()
            self._queues.pop(agent)
            if queue:
                self._queues[agent] = queue
            if not following.done():
                following.set_result(None)
                return
        self._free += 1
