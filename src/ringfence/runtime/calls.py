"""Calls on record as an operator meets them: which there are, how one in doubt was settled, and one taken back.

Takes: an operator's word.  Gives: recorded calls.
Never: settles a call that is not in doubt, and never takes back one that has started.
"""

from __future__ import annotations

from typing import Any, Literal

from ringfence.audit.events import event
from ringfence.errors import CODES, Misuse
from ringfence.runtime.grants import said
from ringfence.runtime.invocation import Ending, Recorded, Status
from ringfence.runtime.operators import require_operator
from ringfence.runtime.outcome import Completed, Failed, model_text
from ringfence.runtime.parts import Parts
from ringfence.runtime.reconciling import Question, reconcile
from ringfence.sanitise import clean_json, clean_output, visible

MOST = 1_000


class Calls:
    """The journal, for people."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def list(
        self, *, status: Status | str | None = None, agent: str | None = None, limit: int = 50
    ) -> list[Recorded]:
        """Calls, newest first."""
        wanted = None if status is None else _status(status)
        return [*await self._parts.store.calls(status=wanted, agent=agent, limit=max(1, min(limit, MOST)))]

    async def settle(
        self,
        invocation_id: str,
        *,
        by: str,
        to: Literal["completed", "failed"],
        because: str,
        output: Any = None,
    ) -> Recorded:
        """An operator looked at the far side: the call took effect, or it did not and its key is free again."""
        await require_operator(self._parts, by, wanted="call_settled")
        if to not in ("completed", "failed"):
            raise Misuse(f"a call in doubt is settled as `completed` or `failed`, not `{to}`")
        recorded = await self._known(invocation_id)
        reason = said(because)
        ending = _completed(invocation_id, output) if to == "completed" else _failed(invocation_id, reason)
        body = {"status": to, "by": by, "because": reason}
        settled = event("call_settled", at=self._parts.now(), body=body, **_about(recorded, self._parts))
        await self._parts.store.settle(invocation_id, ending=ending, events=[settled])
        return await self._known(invocation_id)

    async def reconcile(self, invocation_id: str, *, by: str) -> Recorded:
        """Ask the tool itself how its call in doubt ended; what it cannot tell stays in doubt."""
        await require_operator(self._parts, by, wanted="reconcile_started")
        await self._parts.board.refresh()
        recorded = await self._known(invocation_id)
        kept = recorded.invocation
        if recorded.status is not Status.IN_DOUBT:
            raise Misuse(f"call `{kept.id}` is not in doubt", remedy="`ringfence calls list` shows which are")
        view = self._parts.view(kept.agent, kept.binding)
        tool = view.find(kept.tool)
        if not tool.tool.reconciles:
            raise Misuse(
                f"tool `{tool.name}` has no `reconcile`", remedy="look at the far side, and settle with `--to`"
            )
        question = Question(doubted=recorded, tool=tool, acting=view.acting, asked_by=visible(by))
        return await reconcile(self._parts, question)

    async def cancel(self, invocation_id: str, *, by: str) -> Recorded:
        """Take back a call that waits; one that has started is ended by `freeze`."""
        await require_operator(self._parts, by, wanted="call_cancelled")
        recorded = await self._known(invocation_id)
        body = {"code": "cancelled", "message": f"{visible(by)} took the call back"}
        void = event("call_void", at=self._parts.now(), body=body, **_about(recorded, self._parts))
        to: Literal[Status.VOID, Status.CANCELLED] = (
            Status.VOID if recorded.status is Status.PENDING else Status.CANCELLED
        )
        await self._parts.store.withdraw(invocation_id, to=to, code="cancelled", events=[void])
        return await self._known(invocation_id)

    async def _known(self, invocation_id: str) -> Recorded:
        found = await self._parts.store.recorded(invocation_id)
        if found is None:
            raise Misuse(
                f"there is no call `{visible(invocation_id)}` on record", remedy="`ringfence calls list` shows them"
            )
        return found


def _status(word: Status | str) -> Status:
    try:
        return Status(word)
    except ValueError:
        known = ", ".join(f"`{each}`" for each in Status)
        raise Misuse(f"`{visible(str(word))}` is no state of a call; there are {known}") from None


def _completed(invocation_id: str, output: Any) -> Ending:
    clean, findings = clean_json(output)
    text = clean_output(model_text(clean)).text
    told = Completed(invocation_id=invocation_id, output=clean, text=text, findings=findings)
    return Ending(status=Status.COMPLETED, code=None, outcome=told.as_dict())


def _failed(invocation_id: str, reason: str) -> Ending:
    code = "cancelled"
    message = f"an operator settled it: it did not take effect ({reason})"
    told = Failed(invocation_id=invocation_id, code=code, message=message, remedy=CODES[code].remedy)
    return Ending(status=Status.FAILED, code=code, outcome=told.as_dict())


def _about(recorded: Recorded, parts: Parts) -> dict[str, Any]:
    invocation = recorded.invocation
    registered = parts.registry.tools.get(invocation.tool)
    return {
        "agent": invocation.agent,
        "tool": invocation.tool,
        "safety": registered.safety.value if registered else None,
        "invocation_id": invocation.id,
    }
