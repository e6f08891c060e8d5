"""All jails of one host: made when a call needs one, kept warm, let go by memory, and gone at the end.

Takes: whose call it is, from which source, in which blueprint.  Gives: what the call said.  Never: lets two agents,
sources or blueprints share a jail, or leaves anything behind when it is closed.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ringfence.errors import CallFailed, CallRefused, RingfenceError
from ringfence.execution.storage import Desk
from ringfence.inside.layout import Order
from ringfence.kernel import cgroups
from ringfence.sandbox.blueprint import Blueprint
from ringfence.sandbox.confining import PostureName, fitted
from ringfence.sandbox.descriptors import is_exhausted, none_left, share_of_jails
from ringfence.sandbox.exchange import Exchange, Said
from ringfence.sandbox.exposed import Exposed
from ringfence.sandbox.footing import MOUNTED, Footing
from ringfence.sandbox.forkserver import ForkServer
from ringfence.sandbox.groups import sweep
from ringfence.sandbox.hearing import Ears
from ringfence.sandbox.identities import Identities
from ringfence.sandbox.installation import Installation, this_installation
from ringfence.sandbox.jail import Jail, Setting, build_jail
from ringfence.sandbox.outlet import Outlet, with_roots
from ringfence.sandbox.posture import Baseline, Posture
from ringfence.sandbox.snapshot import Snapshot, Snapshots
from ringfence.sandbox.spares import answer_of
from ringfence.sandbox.turns import Turns

_PAUSE = 0.05
# A call that lost its jail later than that, the building of it included, gets no second one: others wait for its turn.
_SECONDS_FOR_ANOTHER = 5.0


@dataclass(frozen=True, kw_only=True)
class PoolBounds:
    """How much a host keeps and lets in."""

    spares: int = 4
    running: int = field(default_factory=lambda: max(4, 2 * (os.cpu_count() or 1)))
    waiting: int = 256
    memory_bytes: int = 1 << 30
    jails: int = 64


class Key(NamedTuple):
    """What a jail belongs to; nothing else ever enters it."""

    agent: str
    source: str
    blueprint: str


@dataclass(frozen=True, kw_only=True)
class Request:
    """One call for a jail: whose, from which source, behind which walls; `contract` is a tool and its fingerprint."""

    agent: str
    source: str
    blueprint: Blueprint
    frames: bytes
    contract: tuple[str, str] | None
    outlet: Outlet | None = None
    desk: Desk | None = None


class Served(NamedTuple):
    """What one call said, and who was seen saying it."""

    said: Said
    seen: dict[str, Any]
    posture: Posture
    network: dict[str, Any] | None = None
    storage: dict[str, Any] | None = None


class Undelivered(Exception):
    """No process was given the job, so nothing came of it."""

    def __init__(self, why: RingfenceError) -> None:
        super().__init__(why.message)
        self.why = why


class Pool:
    """Owns the fork server, the control groups and every jail."""

    def __init__(
        self,
        snapshots: Snapshots,
        *,
        bounds: PoolBounds | None = None,
        identities: Identities | None = None,
        installation: Installation | None = None,
    ) -> None:
        self.installation = installation or this_installation()
        self._snapshots = snapshots
        self._bounds = bounds or PoolBounds()
        self._identities = identities or Identities()
        self._turns = Turns(running=self._bounds.running, waiting=self._bounds.waiting)
        self._hierarchy = cgroups.find()
        self._exposed = Exposed()
        self._setting: Setting | None = None
        self._ears: Ears | None = None
        self._starting = asyncio.Lock()
        self._jails: dict[Key, Jail] = {}
        self._building: dict[Key, asyncio.Task[Jail]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    async def warm(self) -> Setting:
        """Start the fork server, unless it runs."""
        async with self._starting:
            if self._closed:
                raise CallRefused("the sandbox is closed", code="cancelled")
            if self._setting is None or self._setting.server.gone:
                if self._setting is not None:
                    await self._setting.server.close()
                self._hierarchy = cgroups.settled(self._hierarchy)
                sweep(self._hierarchy)
                server = await ForkServer.start(self.installation)
                self._setting = Setting(
                    server=server,
                    baseline=Baseline.of(server.pid),
                    hierarchy=self._hierarchy,
                    spares=self._bounds.spares,
                    ears=self._ears or Ears(),
                )
                self._ears = self._setting.ears
            return self._setting

    @property
    def lacking(self) -> str | None:
        """Why this machine has no namespaces; None where it has them, or nobody has tried yet."""
        return self._setting.server.lacking if self._setting else None

    def snapshot(self, digest: str) -> Snapshot:
        """A kept source, checked against its name."""
        return self._snapshots.find(digest)

    async def find_out(self) -> None:
        """Have the fork server try what this machine has, unless that is known."""
        if self._setting is None:
            await self.warm()

    def fit(
        self, blueprint: Blueprint, *, kinds: Collection[str], demands: PostureName, footing: Footing = MOUNTED
    ) -> Blueprint:
        """The blueprint as this machine can hold it, by what is known so far."""
        return fitted(
            blueprint,
            kinds=kinds,
            demands=demands,
            lacking=self.lacking,
            hierarchy=self._hierarchy,
            footing=footing,
        )

    async def serve(self, request: Request) -> Served:
        """One call: wait for a turn, find or build the jail, hand over the job, hear the answer."""
        try:
            await self._turns.take(request.agent)
        except RingfenceError as failure:
            raise Undelivered(failure) from failure
        try:
            return await self._served(request)
        finally:
            self._turns.pass_on()

    async def _served(self, request: Request) -> Served:
        since = time.monotonic()
        jail = await self._fitting_jail(request)
        try:
            exchange = await _handed_over(request, jail)
        except RingfenceError as failure:
            if time.monotonic() - since > _SECONDS_FOR_ANOTHER:
                raise Undelivered(failure) from failure
            jail, exchange = await self._handed_to_another(request, lost=jail, failure=failure)
        # Whoever awaits this reply has had it by the time that the next spare is asked for.
        exchange.afterwards = jail.refill
        network: dict[str, Any] | None = None
        storage: dict[str, Any] | None = None
        try:
            seen = exchange.spare.seen.document()  # written down while the tool runs
            said = await answer_of(exchange)
        finally:
            if exchange.passage is not None:
                network = exchange.passage.close()
            if exchange.answering is not None:
                storage = await exchange.answering.ended()
        return Served(said=said, seen=seen, posture=jail.opened.posture, network=network, storage=storage)

    async def _handed_to_another(
        self, request: Request, *, lost: Jail, failure: RingfenceError
    ) -> tuple[Jail, Exchange]:
        """A second jail for a job that its first was lost with; no process had it, so nothing came of it yet.

        One that was refused is not built again for the same call, nor one that took too long, nor one that stands.
        """
        if not isinstance(lost.failure, CallFailed) or lost.failure.code == "wall_limit":
            raise Undelivered(failure) from failure
        jail = await self._fitting_jail(request)
        try:
            return jail, await _handed_over(request, jail)
        except RingfenceError as again:
            raise Undelivered(again) from again

    async def _fitting_jail(self, request: Request) -> Jail:
        """A jail in which the tool is what was registered; while there is none, no process is given the job."""
        try:
            jail = await self._jail(request)
            _require_contract(request, jail.opened.fingerprints)
        except RingfenceError as failure:
            raise Undelivered(failure) from failure
        except OSError as failure:
            if not is_exhausted(failure):
                raise
            raise Undelivered(none_left()) from failure
        return jail

    async def _jail(self, request: Request) -> Jail:
        """The jail of this agent, source and blueprint; built once, however many ask at the same time."""
        key = Key(agent=request.agent, source=request.source, blueprint=request.blueprint.hash)
        jail = self._jails.get(key)
        if jail is not None and jail.failure is None and not jail.worn:
            return jail
        if jail is not None:
            self._let_go(key, calls="end" if jail.failure else "finish")
        building = self._building.get(key)
        if building is None:
            building = asyncio.ensure_future(self._build(key, blueprint=request.blueprint, outlet=request.outlet))
            self._building[key] = building
            building.add_done_callback(lambda built: self._built(key, built))
        return await asyncio.shield(building)

    def jails(self) -> tuple[Jail, ...]:
        """Those that stand now."""
        return tuple(self._jails.values())

    async def close(self) -> None:
        """End every process and remove every group; raises if anything is left."""
        self._closed = True
        for building in list(self._building.values()):
            building.cancel()
        await asyncio.gather(*self._building.values(), return_exceptions=True)
        for key in list(self._jails):
            self._let_go(key)
        await asyncio.gather(*self._closing)
        if self._setting is not None:
            await self._setting.server.close()
            self._setting = None
        if self._ears is not None:
            self._ears.close()
            self._ears = None
        self._exposed.close()

    async def _build(self, key: Key, *, blueprint: Blueprint, outlet: Outlet | None) -> Jail:
        snapshot = self._snapshots.find(key.source)
        setting = await self.warm()
        self._make_room(self._too_many)
        uid, gid = blueprint.layout.ids or self._identities.lend()
        source = self._source(snapshot, posture=blueprint.posture)
        trust = outlet.trust() if outlet is not None else None
        layout = blueprint.layout
        if trust is not None:
            layout = with_roots(layout, trust, exposed=self._exposed)
        order = Order(layout=layout, source=str(source), module=snapshot.module, uid=uid, gid=gid)
        try:
            jail = await build_jail(order, setting=setting, trust=trust)
        except BaseException:
            self._identities.give_back(uid)
            raise
        if self._closed:
            await jail.close()
            raise CallRefused("the sandbox is closed", code="cancelled")
        self._jails[key] = jail
        jail.tell_when_lost(partial(self._lost, key, jail))
        # Every jail that stands is looked at, and one may be ended: when whoever waited for this one has its answer.
        asyncio.get_running_loop().call_later(_PAUSE, self._make_room, self._too_large)
        return jail

    def _lost(self, key: Key, jail: Jail) -> None:
        """A jail that serves no more holds nothing any longer, whether or not its agent calls again.

        Whoever still served is being killed; each of those calls is over when its process is, and not before.
        """
        if self._jails.get(key) is jail:
            self._let_go(key, calls="finish")

    def _source(self, snapshot: Snapshot, *, posture: PostureName) -> Path:
        if posture == "confined" and os.geteuid() == 0:
            return self._exposed.folder(snapshot.folder, digest=snapshot.digest)
        return snapshot.folder

    def _built(self, key: Key, building: asyncio.Task[Jail]) -> None:
        self._building.pop(key, None)
        if not building.cancelled():
            # Whoever waited has seen it; asking here keeps it from being reported as lost when nobody waits any more.
            building.exception()

    def _make_room(self, crowded: Callable[[], bool]) -> None:
        """Let idle jails go, the longest unused first, until the others fit; one that fits nowhere is kept alone."""
        while len(self._jails) > 1 and crowded():
            idle = [(jail.last_used, key) for key, jail in self._jails.items() if not jail.busy]
            if not idle:
                return
            self._let_go(min(idle, key=lambda each: each[0])[1])

    def _too_many(self) -> bool:
        """What is cheap to tell, and would keep the next jail from being built."""
        descriptors = sum(jail.most_descriptors for jail in self._jails.values())
        return len(self._jails) > self._bounds.jails or descriptors > share_of_jails()

    def _too_large(self) -> bool:
        """Memory last, since it takes a look at each."""
        held = (jail.held_bytes() for jail in self._jails.values())
        return self._too_many() or sum(held) > self._bounds.memory_bytes

    def _let_go(self, key: Key, *, calls: Literal["end", "finish"] = "end") -> None:
        jail = self._jails.pop(key)
        closing = asyncio.ensure_future(self._close(jail, calls=calls))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def _close(self, jail: Jail, *, calls: Literal["end", "finish"]) -> None:
        while calls == "finish" and jail.busy and not self._closed:  # noqa: ASYNC110  once in ten thousand calls
            await asyncio.sleep(_PAUSE)
        await jail.close()
        self._identities.give_back(jail.uid)


def _handed_over(request: Request, jail: Jail) -> Coroutine[Any, Any, Exchange]:
    wall_seconds = request.blueprint.wall_seconds
    return jail.begin(request.frames, wall_seconds=wall_seconds, outlet=request.outlet, desk=request.desk)


def _require_contract(request: Request, fingerprints: Mapping[str, str]) -> None:
    """Refuse a tool that the jail imported differently from how it was registered."""
    if request.contract is not None and fingerprints.get(request.contract[0]) != request.contract[1]:
        message = f"tool `{request.contract[0]}` is not, in the jail, the contract that was registered"
        raise CallRefused(message, code="definition_changed")
