"""The confined processes of one jail that wait for calls, and those that serve one.

Takes: a zygote's control socket and how to check a process.  Gives: a spare per call.  Never: keeps more than the
bound, or hands out one that spoke before it was asked.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from functools import partial

from ringfence.errors import CallFailed, CallRefused, RingfenceError
from ringfence.execution.edge import Hearing
from ringfence.execution.storage import Desk
from ringfence.sandbox.descriptors import FOR_A_SPARE, is_exhausted, none_left
from ringfence.sandbox.exchange import Exchange, Record, Said, Writes
from ringfence.sandbox.groups import Entering, Groups, Lent, Used, open_doors
from ringfence.sandbox.outlet import Networks, Outward, close_all
from ringfence.sandbox.posture import Sighting
from ringfence.sandbox.processes import Held
from ringfence.sandbox.questions import Questions
from ringfence.sandbox.spare import Ends, NotReady, Spare, ready_with, request

_MOST_FAILURES = 3
# Each leaves a control group that somebody may still live in.
_MOST_FAILURES_EVER = 64
IMPORT_LESS = "have the module do less while it is imported; `limits.wall_seconds` counts from when a call begins"
# As long as a jail may take to be built; a spare takes a thousandth of it.
_SECONDS_TO_GET_READY = 30.0


class Spares:
    """Some wait or are being made, never more than the bound; each serves once."""

    def __init__(
        self,
        control: socket.socket,
        *,
        check: Callable[[Held], Sighting],
        groups: Groups,
        entering: Entering,
        allowance: Callable[[], bytes],
        inner_pid: Callable[[Sighting], int],
        networks: Networks | Questions,
        hearing: Hearing,
        writes: Writes,
        most: int,
    ) -> None:
        self._control = control
        self._most = most
        # One, for the measuring; tool code must be imported before more of them make sense.
        self._kept = 1
        self._check = check
        self._groups = groups
        self._entering: Entering = entering
        self._allowance = allowance
        self._inner_pid = inner_pid
        self._networks = networks
        self._hearing = hearing
        self._writes: Writes = writes
        self._loop = asyncio.get_running_loop()
        self._asked: dict[Ends, Lent | None] = {}
        self._ready: deque[Spare] = deque()
        self._waiting: deque[asyncio.Future[Spare]] = deque()
        self._living: dict[int, Spare] = {}
        self._serving: dict[int, Exchange] = {}
        self._failures = 0
        self._failures_ever = 0
        self._listening = False
        self.failure: RingfenceError | None = None  # why nothing more comes
        self._told: Callable[[], object] | None = None

    @property
    def busy(self) -> int:
        return len(self._serving) + len(self._waiting)

    @property
    def most_descriptors(self) -> int:
        """How many are held for all that wait at once, at most."""
        return self._most * (FOR_A_SPARE + self._networks.most)

    async def take(self) -> Spare:
        """The next spare that was seen confined and has said nothing since."""
        if self.failure:
            raise self.failure
        while self._ready:
            taken = self._ready.popleft()
            if taken.is_silent():
                return taken
            self.discard(taken)
        waiting: asyncio.Future[Spare] = self._loop.create_future()
        self._waiting.append(waiting)
        self.refill()
        late = self._loop.call_later(_SECONDS_TO_GET_READY, self.close, _none_in_time())
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
                # It came in the same moment; the next call takes it.
                self._hand_over(waiting.result())
            raise
        finally:
            late.cancel()

    def grow(self, kept: int) -> None:
        """Keep this many waiting from now on, up to the bound."""
        self._kept = kept
        self.refill()

    def refill(self) -> None:
        """Ask for as many as are missing: those that are kept, or one for each call that waits."""
        kept, awaited = min(self._kept, self._most), min(len(self._waiting), max(self._most, 1))
        wanted = max(kept, awaited)
        while self.failure is None and len(self._ready) + len(self._asked) < wanted:
            group: Lent | None = None
            try:
                group = self._groups.lend()
                self._ask(group)
            except OSError as failure:
                if group is not None:
                    self._groups.give_back(group)
                self._not_asked(failure)
                return

    def _ask(self, group: Lent | None) -> None:
        with open_doors(group if self._entering == "by itself" else None) as doors:
            ends = request(self._control, doors=doors, allowance=self._allowance())
        self._asked[ends] = group
        if self._listening:
            self._listen_to(ends)

    def _not_asked(self, failure: OSError) -> None:
        """A jail that does not listen is lost; one that no descriptor is left for is asked again by the next call."""
        if not is_exhausted(failure):
            self.close(CallFailed(f"the jail no longer makes processes: {failure.strerror}", code="protocol_error"))
        elif not self._asked:
            self._disappoint(none_left())

    def listen(self) -> None:
        """Admit whoever gets ready, from now on: what bears them was seen confined."""
        self._listening = True
        for ends in self._asked:
            self._listen_to(ends)

    def _listen_to(self, ends: Ends) -> None:
        self._hearing.add_reader(ends.channel.fileno(), partial(self._answered, ends))

    def begin(
        self, spare: Spare, *, frames: bytes, wall_seconds: float, most_output: int, desk: Desk | None = None
    ) -> Exchange:
        """Hand the job to a spare; one that was taken while the jail closed serves nobody."""
        if self.failure is not None:
            self.discard(spare)
            raise self.failure
        exchange = Exchange(
            spare,
            frames=frames,
            wall_seconds=wall_seconds,
            most_output=most_output,
            desk=desk,
            hearing=self._hearing,
            writes=self._writes,
        )
        self._serving[spare.inner_pid] = exchange
        return exchange

    def ended(self, inner_pid: int, record: Record) -> None:
        """The warden says that a process of this jail ended."""
        exchange = self._serving.pop(inner_pid, None)
        spare = self._living.pop(inner_pid, None)
        used = self._used(spare.group, exchange) if spare is not None and spare.group is not None else None
        if exchange is not None:
            exchange.ended(record, used=used)
        elif spare is not None:
            if spare in self._ready:
                self._ready.remove(spare)
                spare.discard()
            spare.process.let_go()

    def _used(self, group: Lent, exchange: Exchange | None) -> Used | None:
        """What a process's group measured; nobody asks of one that was over with its reply."""
        replied = exchange is not None and exchange.over_with_reply
        used = None if replied else self._groups.used(group)
        self._groups.give_back(group)
        return used

    def close(self, reason: RingfenceError) -> None:
        """Nothing more comes from this jail: whoever waits is told why, whoever serves is killed."""
        if self.failure is not None:
            return
        self.failure = reason
        for ends in self._asked:
            self._hearing.remove_reader(ends.channel.fileno())
            ends.close()
        self._asked.clear()
        while self._ready:
            self.discard(self._ready.popleft())
        for exchange in list(self._serving.values()):
            exchange.stop(reason.code, reason.message)
        self._disappoint(reason)
        if self._told is not None:
            self._loop.call_soon(self._told)

    def tell_when_closed(self, told: Callable[[], object]) -> None:
        """Have somebody told that nothing more comes, soon after it is so."""
        self._told = told
        if self.failure is not None:
            self._loop.call_soon(told)

    def _disappoint(self, reason: RingfenceError) -> None:
        """Tell whoever waits that nobody comes."""
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(reason)
        self._waiting.clear()

    def hear_no_more(self) -> None:
        """The warden tells nothing any more: a call that was stopped is over when the kernel has ended its process."""
        for inner_pid, exchange in self._serving.items():
            exchange.spare.process.tell_when_ended(partial(self._ended_untold, inner_pid))

    def _ended_untold(self, inner_pid: int) -> None:
        self._living.pop(inner_pid, None)
        exchange = self._serving.pop(inner_pid, None)
        if exchange is not None:
            exchange.lost()

    def bury(self) -> None:
        """The whole jail is gone, whether or not the warden could still say so."""
        for exchange in self._serving.values():
            exchange.lost()
        for spare in self._living.values():
            spare.process.let_go()
        self._serving.clear()
        self._living.clear()

    def _answered(self, ends: Ends) -> None:
        self._hearing.remove_reader(ends.channel.fileno())
        group = self._asked.pop(ends)
        try:
            spare = self._admit(ends, group=group)
        except (NotReady, OSError) as failure:
            ends.close()
            if isinstance(failure, OSError) and is_exhausted(failure):
                self._not_asked(failure)
            else:
                self._failed(CallFailed(f"a process of the jail did not get ready: {failure}", code="protocol_error"))
            return
        except CallRefused as refused:
            ends.close()
            self.close(refused)
            return
        except Exception as failure:  # whatever nobody foresaw of a jail's answer is a refusal
            ends.close()
            why = f"a spare could not be admitted: {type(failure).__name__}"
            self.close(CallRefused(why, code="posture_insufficient"))
            return
        self._failures = 0
        self._living[spare.inner_pid] = spare
        self._hand_over(spare)

    def _admit(self, ends: Ends, *, group: Lent | None) -> Spare:
        pid, handed_out = ready_with(ends.channel, most=self._networks.most)
        try:
            process = Held(pid)
        except BaseException:
            close_all(handed_out)
            raise
        try:
            return self._checked(process, ends=ends, handed_out=handed_out, group=group)
        except BaseException:
            process.let_go()
            raise

    def _checked(self, process: Held, *, ends: Ends, handed_out: list[int], group: Lent | None) -> Spare:
        try:
            seen = self._check(process)
        except BaseException:
            close_all(handed_out)
            raise
        outward = self._networks.admit(handed_out, seen=seen)
        try:
            return self._admitted(process, ends=ends, seen=seen, group=group, outward=outward)
        except BaseException:
            outward.close()
            raise

    def _admitted(self, process: Held, *, ends: Ends, seen: Sighting, group: Lent | None, outward: Outward) -> Spare:
        inner_pid = self._inner_pid(seen)
        if inner_pid in self._living:
            raise NotReady("one process says twice that it is ready")
        if group is not None:
            self._require_inside(group, process)
        return Spare(ends=ends, process=process, seen=seen, inner_pid=inner_pid, group=group, outward=outward)

    def _require_inside(self, group: Lent, process: Held) -> None:
        if self._entering == "by the host":
            group.take_in(process.pid)
        if not group.holds(process.pid):
            raise CallRefused("a spare is outside its control group", code="posture_insufficient")

    def _hand_over(self, spare: Spare) -> None:
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(spare)
                if self._waiting:
                    self.refill()
                return
        self._ready.append(spare)

    def _failed(self, reason: CallFailed) -> None:
        self._failures += 1
        self._failures_ever += 1
        if self._failures >= _MOST_FAILURES or self._failures_ever >= _MOST_FAILURES_EVER:
            self.close(reason)
        elif self._waiting:
            self.refill()

    def discard(self, spare: Spare) -> None:
        """End a spare that nobody will be served by."""
        spare.process.kill()
        spare.discard()


def _none_in_time() -> CallFailed:
    return CallFailed("no process of the jail got ready in time", code="wall_limit", remedy=IMPORT_LESS)


async def answer_of(exchange: Exchange) -> Said:
    """What an exchange came to; whoever stops waiting stops the call."""
    try:
        return await exchange.over
    except asyncio.CancelledError:
        exchange.stop("cancelled", "the call was cancelled")
        raise
