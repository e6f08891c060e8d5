"""The same names without `await`, for programs that have no event loop.

Takes: an open runtime context.  Gives: a twin whose calls block.
Never: runs on the caller's loop; it has a thread and a loop of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from types import TracebackType
from typing import Any, TypeVar

from ringfence.agents.view import ToolView
from ringfence.approvals.inbox import Approval, Word
from ringfence.approvals.standing import StandingGrant
from ringfence.audit.verify import Report
from ringfence.errors import Misuse
from ringfence.runtime.explaining import Explanation
from ringfence.runtime.freezes import NO_REASON, Frozen
from ringfence.runtime.freezing import Freeze
from ringfence.runtime.outcome import Outcome
from ringfence.runtime.runtime import Runtime
from ringfence.runtime.session import Session
from ringfence.runtime.status import AgentStatus

Value = TypeVar("Value")


class _Loop:
    """An event loop that runs in another thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def wait(self, work: Coroutine[Any, Any, Value]) -> Value:
        if _running_here() is self._loop:
            work.close()
            raise Misuse(
                "a blocking call was made on the runtime's own event loop", remedy="await the runtime itself there"
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        """The loop is the runtime's; whoever opened it stops it."""


class _OwnLoop(_Loop):
    """A loop and a thread made for one runtime."""

    def __init__(self) -> None:
        super().__init__(asyncio.new_event_loop())
        self._thread = threading.Thread(target=self._loop.run_forever, name="ringfence", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _running_here() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class BlockingSession:
    """A session whose calls block."""

    def __init__(self, session: Session, *, loop: _Loop) -> None:
        self._session = session
        self._loop = loop

    @property
    def id(self) -> str:
        return self._session.id

    @property
    def view(self) -> ToolView:
        return self._session.view

    def heard(self, text: str) -> None:
        self._session.heard(text)

    def call(self, tool: str, arguments: Mapping[str, Any], *, idempotency_key: str | None = None) -> Outcome:
        return self._loop.wait(self._session.call(tool, arguments, idempotency_key=idempotency_key))

    def call_many(self, calls: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Outcome]:
        return self._loop.wait(self._session.call_many(calls))

    def resume(self, invocation_id: str) -> Outcome:
        return self._loop.wait(self._session.resume(invocation_id))


class BlockingApprovals:
    """Approvals whose calls block."""

    def __init__(self, runtime: Runtime, *, loop: _Loop) -> None:
        self._approvals = runtime.approvals
        self._loop = loop

    def list(self) -> list[Approval]:
        return self._loop.wait(self._approvals.list())

    def vote(self, approval_id: str, *, voter: str, decision: Word, reason: str | None = None) -> Approval:
        return self._loop.wait(self._approvals.vote(approval_id, voter=voter, decision=decision, reason=reason))


class BlockingAudit:
    """The trail, read blockingly."""

    def __init__(self, runtime: Runtime, *, loop: _Loop) -> None:
        self._audit = runtime.audit
        self._loop = loop

    def verify(self, *, key: str | None = None) -> Report:
        return self._loop.wait(self._audit.verify(key=key))


class BlockingGrants:
    """Standing grants, given and ended blockingly."""

    def __init__(self, runtime: Runtime, *, loop: _Loop) -> None:
        self._grants = runtime.grants
        self._loop = loop

    def list(self) -> list[StandingGrant]:
        return self._loop.wait(self._grants.list())

    def give(
        self,
        *,
        agent: str,
        tool: str,
        uses: int,
        lasting: timedelta,
        by: str,
        because: str,
        when: Mapping[str, Any] | None = None,
        answers: Iterable[str] = (),
    ) -> StandingGrant:
        given = self._grants.give(
            agent=agent, tool=tool, uses=uses, lasting=lasting, by=by, because=because, when=when, answers=answers
        )
        return self._loop.wait(given)

    def sign(self, grant_id: str, *, by: str, digest: str | None = None) -> StandingGrant:
        return self._loop.wait(self._grants.sign(grant_id, by=by, digest=digest))

    def revoke(self, grant_id: str, *, by: str, because: str) -> StandingGrant:
        return self._loop.wait(self._grants.revoke(grant_id, by=by, because=because))


class BlockingStopButton:
    """The stop button, pressed blockingly."""

    def __init__(self, runtime: Runtime, *, loop: _Loop) -> None:
        self._freezes = runtime.freezes
        self._loop = loop

    def list(self) -> list[Freeze]:
        return self._loop.wait(self._freezes.list())

    def freeze(self, *, by: str, agent: str | None = None, tool: str | None = None, because: str = NO_REASON) -> Frozen:
        return self._loop.wait(self._freezes.freeze(by=by, agent=agent, tool=tool, because=because))

    def unfreeze(self, *, by: str, agent: str | None = None, tool: str | None = None) -> int:
        return self._loop.wait(self._freezes.unfreeze(by=by, agent=agent, tool=tool))


class BlockingRuntime:
    """A runtime whose calls block; a context manager that closes what it opened."""

    def __init__(self, runtime: Runtime, *, loop: _Loop, opening: AbstractAsyncContextManager[Runtime] | None) -> None:
        self._runtime = runtime
        self._loop = loop
        self._opening = opening
        self.approvals = BlockingApprovals(runtime, loop=loop)
        self.audit = BlockingAudit(runtime, loop=loop)
        self.grants = BlockingGrants(runtime, loop=loop)
        self.freezes = BlockingStopButton(runtime, loop=loop)

    def session(
        self, *, agent: str, binding: str | None = None, user: str | None = None, id: str | None = None
    ) -> BlockingSession:
        opened = self._runtime.session(agent=agent, binding=binding, user=user, id=id)
        return BlockingSession(opened, loop=self._loop)

    def status(self, agent: str, *, binding: str | None = None) -> AgentStatus:
        return self._loop.wait(self._runtime.status(agent, binding=binding))

    def explain(
        self, agent: str, tool: str, arguments: Mapping[str, Any], *, binding: str | None = None
    ) -> Explanation:
        return self._loop.wait(self._runtime.explain(agent, tool, arguments, binding=binding))

    def close(self) -> None:
        try:
            if self._opening is not None:
                self._loop.wait(_leave(self._opening))
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
        return BlockingRuntime(runtime, loop=_Loop(runtime.loop), opening=None)
    loop = _OwnLoop()
    try:
        return BlockingRuntime(loop.wait(_enter(runtime)), loop=loop, opening=runtime)
    except BaseException:
        loop.stop()
        raise


async def _enter(opening: AbstractAsyncContextManager[Runtime]) -> Runtime:
    return await opening.__aenter__()


async def _leave(opening: AbstractAsyncContextManager[Runtime]) -> None:
    await opening.__aexit__(None, None, None)
