"""The same names without `await`, for programs that have no event loop.

Takes: an open runtime, or one still to be opened.  Gives: a twin whose calls block.
Never: leaves out a name; a test holds each handle against its twin.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from types import TracebackType

from ringfence.agents.view import ToolView
from ringfence.registry.registry import RegisteredTool
from ringfence.runtime.approvals import Approvals
from ringfence.runtime.audit import Audit
from ringfence.runtime.calls import Calls
from ringfence.runtime.freezes import StopButton
from ringfence.runtime.grants import StandingGrants
from ringfence.runtime.pins import PinDesk
from ringfence.runtime.runtime import Runtime
from ringfence.runtime.session import Session
from ringfence.runtime.twin import Loop, OwnLoop, Twin, iterates, waits


class BlockingSession(Twin[Session]):
    """A session whose calls block."""

    call = waits(Session.call)
    call_many = waits(Session.call_many)
    resume = waits(Session.resume)

    @property
    def id(self) -> str:
        return self._original.id

    @property
    def agent(self) -> str:
        return self._original.agent

    @property
    def view(self) -> ToolView:
        return self._original.view

    def heard(self, text: str) -> None:
        self._original.heard(text)


class BlockingApprovals(Twin[Approvals]):
    """The inbox, read and voted in blockingly."""

    list = waits(Approvals.list)
    vote = waits(Approvals.vote)


class BlockingAudit(Twin[Audit]):
    """The trail, read blockingly."""

    verify = waits(Audit.verify)
    export = iterates(Audit.export)
    bundle = waits(Audit.bundle)
    replay = waits(Audit.replay)
    removable = waits(Audit.removable)
    remove_bodies = waits(Audit.remove_bodies)
    raw = waits(Audit.raw)
    last = waits(Audit.last)
    follow = iterates(Audit.follow)


class BlockingGrants(Twin[StandingGrants]):
    """Standing grants, given and ended blockingly."""

    list = waits(StandingGrants.list)
    give = waits(StandingGrants.give)
    sign = waits(StandingGrants.sign)
    revoke = waits(StandingGrants.revoke)


class BlockingStopButton(Twin[StopButton]):
    """The stop button, pressed blockingly."""

    list = waits(StopButton.list)
    freeze = waits(StopButton.freeze)
    unfreeze = waits(StopButton.unfreeze)


class BlockingPins(Twin[PinDesk]):
    """Pins, read and accepted blockingly."""

    list = waits(PinDesk.list)
    diff = waits(PinDesk.diff)
    accept = waits(PinDesk.accept)


class BlockingCalls(Twin[Calls]):
    """Calls on record, listed and settled blockingly."""

    list = waits(Calls.list)
    settle = waits(Calls.settle)
    reconcile = waits(Calls.reconcile)
    cancel = waits(Calls.cancel)


class BlockingRuntime(Twin[Runtime]):
    """A runtime whose calls block; a context manager that closes what it opened."""

    def __init__(self, runtime: Runtime, *, loop: Loop, opening: AbstractAsyncContextManager[Runtime] | None) -> None:
        super().__init__(runtime, loop=loop)
        self._opening = opening
        self.approvals = BlockingApprovals(runtime.approvals, loop=loop)
        self.audit = BlockingAudit(runtime.audit, loop=loop)
        self.grants = BlockingGrants(runtime.grants, loop=loop)
        self.freezes = BlockingStopButton(runtime.freezes, loop=loop)
        self.pins = BlockingPins(runtime.pins, loop=loop)
        self.calls = BlockingCalls(runtime.calls, loop=loop)

    recorded = waits(Runtime.recorded)
    status = waits(Runtime.status)
    explain = waits(Runtime.explain)
    events = iterates(Runtime.events)

    def session(
        self,
        *,
        agent: str,
        binding: str | None = None,
        user: str | None = None,
        id: str | None = None,
        typed_by: str | None = None,
    ) -> BlockingSession:
        opened = self._original.session(agent=agent, binding=binding, user=user, id=id, typed_by=typed_by)
        return BlockingSession(opened, loop=self._loop)

    @property
    def agents(self) -> tuple[str, ...]:
        return self._original.agents

    @property
    def tools(self) -> tuple[RegisteredTool, ...]:
        return self._original.tools

    def close(self) -> None:
        try:
            if self._opening is not None:
                self._wait(_leave(self._opening))
        finally:
            self._loop.stop()

    def __enter__(self) -> BlockingRuntime:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def blocking(runtime: Runtime | AbstractAsyncContextManager[Runtime]) -> BlockingRuntime:
    """The twin of an open runtime, for other threads; or of one still to be opened, with a loop of its own.

    `with blocking(open_runtime("ringfence.yaml")) as runtime: …`
    """
    if isinstance(runtime, Runtime):
        return BlockingRuntime(runtime, loop=Loop(runtime.loop), opening=None)
    loop = OwnLoop()
    try:
        return BlockingRuntime(loop.wait(_enter(runtime)), loop=loop, opening=runtime)
    except BaseException:
        loop.stop()
        raise


async def _enter(opening: AbstractAsyncContextManager[Runtime]) -> Runtime:
    return await opening.__aenter__()


async def _leave(opening: AbstractAsyncContextManager[Runtime]) -> None:
    await opening.__aexit__(None, None, None)
