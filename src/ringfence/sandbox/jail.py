"""One warden, one zygote and its spares, as the host holds them.

Takes: an order and what all jails share.  Gives: calls served by confined processes.  Never: lets a tool be imported
before the jail was measured, or hands a call to a process that was not seen confined.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ringfence.contract.values import parse_json
from ringfence.errors import CallFailed, CallRefused, Misuse, RingfenceError
from ringfence.execution.edge import Passage, Trust
from ringfence.execution.storage import Desk
from ringfence.inside import wire
from ringfence.inside.layout import Order
from ringfence.inside.warden import ENDED, HELLO, RECORD
from ringfence.inside.zygote import IMPORT
from ringfence.kernel import cgroups
from ringfence.sandbox import posture
from ringfence.sandbox.channels import channel_pairs, readable
from ringfence.sandbox.descriptors import FOR_A_JAIL
from ringfence.sandbox.exchange import Exchange, Record
from ringfence.sandbox.forkserver import ForkServer
from ringfence.sandbox.frames import job_frames
from ringfence.sandbox.groups import Groups, Lent, open_doors
from ringfence.sandbox.hearing import Ears
from ringfence.sandbox.imported import MOST_FINGERPRINTS, feed, read_fingerprints
from ringfence.sandbox.outlet import Outlet, Outward
from ringfence.sandbox.posture import Baseline, Posture, Sighting
from ringfence.sandbox.processes import Held
from ringfence.sandbox.questions import networks_of
from ringfence.sandbox.spare import CREDENTIALS_SPACE, NotReady, Spare, ready_pid, sender
from ringfence.sandbox.spares import IMPORT_LESS, Spares, answer_of
from ringfence.sandbox.tree import watch_tree
from ringfence.sandbox.walls import walls_of
from ringfence.sandbox.watch import private_bytes, watch_memory, watch_threads

_BUILD_SECONDS = 30.0
_MOST_CALLS = 10_000
_MOST_REPORT = 4_096
_MEASURE_BYTES = 65_536


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What every jail of a host has in common."""

    server: ForkServer
    baseline: Baseline
    hierarchy: cgroups.Hierarchy
    spares: int
    ears: Ears


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What building a jail brought to light."""

    posture: Posture
    fingerprints: Mapping[str, str]


async def build_jail(order: Order, *, setting: Setting, trust: Trust | None = None) -> Jail:
    """Have a jail born, see it confined, measure it, let it import the tool; or refuse and leave nothing."""
    jail = Jail(order, setting=setting, trust=trust)
    try:
        await asyncio.wait_for(jail.open(), timeout=_BUILD_SECONDS)
    except TimeoutError:
        await jail.close()
        message = "the tool's module did not finish importing in time"
        raise CallFailed(message, code="wall_limit", remedy=IMPORT_LESS) from None
    except ConnectionError:
        # Whoever is killed with something still to be read resets its socket instead of ending it.
        await jail.close()
        raise CallFailed("the jail ended while it was built", code="protocol_error") from None
    except BaseException:
        await jail.close()
        raise
    return jail


class Jail:
    """Built once for one agent, one source and one blueprint; serves one call per spare."""

    def __init__(self, order: Order, *, setting: Setting, trust: Trust | None = None) -> None:
        self._order = order
        self.trust = trust
        self._setting = setting
        self._loop = asyncio.get_running_loop()
        reports, control = channel_pairs(socket.SOCK_SEQPACKET, socket.SOCK_STREAM)
        (self._report, self._report_theirs), (self._control, self._control_theirs) = reports, control
        self._hello: asyncio.Future[int] = self._loop.create_future()
        self._warden: Held | None = None
        bounds = order.layout.bounds
        self._groups = Groups(
            hierarchy=setting.hierarchy,
            memory_bytes=bounds.memory_bytes + bounds.scratch_bytes,
            processes=bounds.processes,
        )
        self._zygote: Sighting | None = None
        self._opened: Opened | None = None
        self._walls = walls_of(order)
        networks = networks_of(order.layout, hearing=setting.ears)
        self._has_ways = networks.most > 0
        self._spares = Spares(
            self._control,
            check=self._check,
            groups=self._groups,
            entering=self._walls.entering,
            allowance=self._walls.allowance,
            inner_pid=self._as_the_warden_counts,
            networks=networks,
            hearing=setting.ears,
            writes="granted files" if order.layout.writable() else "nowhere",
            most=setting.spares,
        )
        self._calls = 0
        self.last_used = time.monotonic()

    @property
    def opened(self) -> Opened:
        return self._opened or _not_open()

    @property
    def busy(self) -> int:
        return self._spares.busy

    @property
    def failure(self) -> RingfenceError | None:
        """Why this jail serves no more, if it does not."""
        return self._spares.failure

    @property
    def worn(self) -> bool:
        """Whether it has served so many calls that another should take over before its CPU time is used up."""
        return self._calls >= _MOST_CALLS

    @property
    def uid(self) -> int:
        return self._order.uid

    @property
    def most_descriptors(self) -> int:
        """How many the host holds for it when all its spares wait."""
        return FOR_A_JAIL + self._spares.most_descriptors

    def held_bytes(self) -> int:
        """Memory that only this jail's zygote holds, roughly: pages it shares with the fork server count too."""
        return private_bytes((self._zygote or _not_open()).pid)

    async def open(self) -> None:
        """Every step that must succeed before the first call."""
        self._setting.ears.add_reader(self._report.fileno(), self._reported)
        group = self._groups.lend()
        with open_doors(group) as doors:
            theirs = (self._report_theirs.fileno(), self._control_theirs.fileno())
            await self._setting.server.bear(self._order, descriptors=(*theirs, *doors))
        self._let_theirs_go()
        # Asked for while the jail is built, the process that measures it is born as soon as there is a zygote.
        self._spares.refill()
        self._warden = self._held(await self._hello)
        zygote = await self._see_zygote(group)
        self._spares.listen()
        inside = await self._measure()
        fingerprints = await self._import()
        self._calls = 0  # those until here were the jail's own
        self._setting.server.lay_up()
        self._opened = Opened(
            posture=Posture(
                level=self._walls.level,
                inside=inside,
                inside_digest=posture.inside_digest(inside),
                controllers=tuple(sorted(self._setting.hierarchy.folders)),
                zygote=zygote,
            ),
            fingerprints=fingerprints,
        )

    async def begin(
        self, frames: bytes, *, wall_seconds: float, outlet: Outlet | None = None, desk: Desk | None = None
    ) -> Exchange:
        """Hand a job to the next spare, its way out opened first if it has one."""
        spare = await self._spares.take()
        passage = self._open_way(spare, outlet) if self._has_ways else None
        self.last_used = time.monotonic()
        self._calls += 1
        bounds = self._order.layout.bounds
        try:
            exchange = self._spares.begin(
                spare, frames=frames, wall_seconds=wall_seconds, most_output=bounds.output_bytes, desk=desk
            )
        except BaseException:
            if passage is not None:
                passage.close()
            raise
        exchange.passage = passage
        counted = "memory" in self._setting.hierarchy.folders
        if self._order.layout.imports == "in every call":
            # Its children may outlive its reply, and end with it: only the warden knows when.
            exchange.await_record()
            watch_tree(exchange, memory=None if counted else bounds.memory_bytes, cpu_seconds=bounds.cpu_seconds)
        elif not counted:
            watch_memory(exchange, most=bounds.memory_bytes)
        if self._walls.level == "confined" and "pids" not in self._setting.hierarchy.folders:
            watch_threads(exchange, most=bounds.processes)
        return exchange

    def _open_way(self, spare: Spare, outlet: Outlet | None) -> Passage | None:
        ways = spare.outward.take()
        if ways is None:
            return None
        try:
            if outlet is None or self.trust is None:
                Outward(ways).close()
                return None
            return outlet.open(ways, trust=self.trust)
        except BaseException:
            self._spares.discard(spare)
            raise

    def tell_when_lost(self, told: Callable[[], object]) -> None:
        """Have somebody told that it serves no more."""
        self._spares.tell_when_closed(told)

    def refill(self) -> None:
        """Have one wait for every call that there was, up to the bound: many agents call a tool once."""
        self._spares.grow(self._calls)

    async def close(self) -> None:
        """Kill everything in the jail and wait until it is gone."""
        self._spares.close(CallFailed("the jail was closed", code="cancelled"))
        self._let_theirs_go()
        if self._warden is not None:
            self._walls.end(self._warden)
            await self._warden.ended()
            self._warden.let_go()
        self._setting.ears.remove_reader(self._report.fileno())
        self._report.close()
        self._control.close()
        self._spares.bury()
        await self._groups.close()

    async def _see_zygote(self, group: Lent | None) -> Sighting:
        await readable(self._control)
        try:
            pid = ready_pid(self._control)
        except NotReady as failure:
            raise _unconfined(failure) from None
        try:
            seen = posture.sight(pid)
            held = group is None or group.holds(pid)
        except (FileNotFoundError, ProcessLookupError):
            raise _ended_early() from None
        warden = (self._warden or _not_open()).pid
        self._walls.check_zygote(seen, baseline=self._setting.baseline, warden=warden)
        if not held:
            raise CallRefused("a zygote is outside its control group", code="posture_insufficient")
        self._zygote = seen
        return seen

    def _held(self, warden: int) -> Held:
        """The warden, by a descriptor; it can be gone again before anybody takes hold of it."""
        try:
            return Held(warden)
        except ProcessLookupError:
            raise self._why_it_ended() from None

    def _why_it_ended(self) -> RingfenceError:
        """In the zygote's own words where it said any, and with it the jail ended."""
        try:
            if self._control.recv(1, socket.MSG_PEEK):
                ready_pid(self._control)
        except NotReady as failure:
            return _unconfined(failure)
        except OSError:
            return _ended_early()
        return _ended_early()

    async def _measure(self) -> Mapping[str, Any]:
        try:
            exchange = await self.begin(job_frames("measure"), wall_seconds=_BUILD_SECONDS)
        except CallFailed as failure:
            message = f"the jail could not be measured: {failure.message}"
            raise CallRefused(message, code="posture_insufficient") from None
        said = await answer_of(exchange)
        if said.frame is None or said.frame[0] is not wire.Kind.OUTPUT or said.fault is not None:
            raise CallRefused(
                f"the jail could not be measured: {said.fault or said.frame}", code="posture_insufficient"
            )
        measured = parse_json(said.frame[1], size=_MEASURE_BYTES)
        self._walls.judge(measured)
        return dict(measured)

    async def _import(self) -> Mapping[str, str]:
        self._control.send(IMPORT)
        # Behind that order, so that the first call's process is born as soon as the tool is imported.
        self._spares.refill()
        reader = wire.FrameReader(most=MOST_FINGERPRINTS)
        while (frame := reader.frame()) is None:
            await readable(self._control)
            piece = self._control.recv(_MEASURE_BYTES)
            if not piece:
                raise CallFailed("the jail ended while it imported the tool", code="protocol_error")
            feed(reader, piece)
        told = read_fingerprints(*frame)
        layout = self._order.layout
        if layout.imports == "once" or layout.entry is not None:
            return told
        return await self._imported_by_a_call()

    async def _imported_by_a_call(self) -> Mapping[str, str]:
        """Where every call imports the tool anew, one call does nothing else."""
        said = await answer_of(await self.begin(job_frames("fingerprints"), wall_seconds=_BUILD_SECONDS))
        if said.fault is not None or said.frame is None:
            code, message = said.fault or ("protocol_error", "the jail ended while it imported the tool")
            raise CallFailed(message, code=code)
        return read_fingerprints(*said.frame)

    def _check(self, process: Held) -> Sighting:
        seen, warden = posture.sight(process.pid, status=process.status()), self._warden or _not_open()
        try:
            self._walls.check_spare(
                seen, baseline=self._setting.baseline, warden=warden.pid, zygote=self._zygote or _not_open()
            )
        except CallRefused:
            # Its import took a wall down, so nothing that came of it goes on.
            self._walls.end(warden)
            raise
        except Exception as failure:
            if isinstance(failure, OSError):
                raise
            self._walls.end(warden)
            message = f"a spare could not be checked: {type(failure).__name__}"
            raise CallRefused(message, code="posture_insufficient") from failure
        return seen

    def _as_the_warden_counts(self, seen: Sighting) -> int:
        """The pid by which the warden tells of a process: the one in the namespace that it shares with the zygote."""
        return seen.status.pids[len((self._zygote or _not_open()).status.pids) - 1]

    def _reported(self) -> None:
        try:
            message, ancillary, _, _ = self._report.recvmsg(_MOST_REPORT, CREDENTIALS_SPACE)
        except BlockingIOError:
            return
        if message[:1] == ENDED:
            self._ended(message)
        elif message == HELLO:
            self._hello.set_result(sender(ancillary))
        else:
            self._setting.ears.remove_reader(self._report.fileno())
            self._gone(message[1:].decode(errors="replace") or "the jail ended")

    def _ended(self, message: bytes) -> None:
        _, pid, status, user, system, peak = RECORD.unpack(message)
        record = Record(status=status, cpu_seconds=(user + system) / 1_000_000, peak_memory_bytes=peak)
        # Until it was seen there is nobody else.
        if self._zygote is None or pid == self._zygote.status.pids[-1]:
            self._gone(f"the process that imported the tool ended with status {status}")
        else:
            self._spares.ended(pid, record)

    def _gone(self, why: str) -> None:
        if not self._hello.done():
            self._hello.set_exception(CallRefused(f"no jail could be built: {why}", code="posture_insufficient"))
        self._spares.close(CallFailed(f"the jail is gone: {why}", code="protocol_error"))
        self._spares.hear_no_more()

    def _let_theirs_go(self) -> None:
        self._report_theirs.close()
        self._control_theirs.close()


def _unconfined(complaint: NotReady) -> CallRefused:
    return CallRefused(f"the jail could not be confined: {complaint}", code="posture_insufficient")


def _ended_early() -> CallFailed:
    return CallFailed("the jail is gone: it ended while it was built", code="protocol_error")


def _not_open() -> NoReturn:
    """What building the jail finds out is not known yet; asking before that is an error of this program."""
    raise Misuse("a jail is used before it is open")
