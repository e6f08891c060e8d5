"""What the journal and the trail are told at each move of a call, and what the caller is told after it.

Takes: a case and how it stands.  Gives: the `Outcome`, once it is on record.
Never: tells a caller anything that could not be recorded; output without a trail is withheld.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Literal

from ringfence.approvals.warrant import Warrant
from ringfence.audit.events import AuditEvent
from ringfence.contract.fingerprint import digest
from ringfence.errors import CODES, CallFailed, CallRefused, RingfenceError, TrailUnavailable
from ringfence.execution.execute import Unanswered
from ringfence.execution.traces import left_nothing
from ringfence.runtime.case import Case
from ringfence.runtime.cleaning import Cleansed
from ringfence.runtime.invocation import KEY_LIFETIME, Ending, Status
from ringfence.runtime.noticing import refused_on_the_way, withheld_from
from ringfence.runtime.once import is_keyed
from ringfence.runtime.outcome import Completed, Failed, Outcome, Refused, finding_document
from ringfence.runtime.parts import Parts
from ringfence.runtime.spending import bill_for, given_back, priced, spends_of
from ringfence.runtime.standing import used_grants
from ringfence.sanitise import Finding, Severity, clean_for_model, clean_output, visible

_log = logging.getLogger(__name__)
_MESSAGE_BYTES = 2_000
_TRACE_BYTES = 16_384


class AlreadyMoved(CallRefused):
    """The call on record has moved on, by another process or by a person; its record stands."""

    code = "in_flight"


def as_refusal(error: Exception) -> RingfenceError:
    """Whatever went wrong while deciding, as the refusal that it is."""
    if isinstance(error, RingfenceError):
        return error
    _log.error("deciding about a call failed: %s", _traced(error))
    return CallRefused(f"deciding failed: {type(error).__name__}")


def _traced(error: BaseException) -> str:
    """An error with its traceback, as a log may hold it: its words may be a tool's."""
    lines = "".join(traceback.format_exception(error))
    return visible(clean_output(lines, limit=_TRACE_BYTES).text, lines="many")


async def record_start(parts: Parts, case: Case, warrant: Warrant) -> None:
    """The call is running, on record, and for a consequential one on disk, before the jail hears of it."""
    case.spends = spends_of(parts, case)
    at, invocation = parts.now(), case.invocation()
    before = [] if case.resumed else [case.proposed(invocation), case.decided()]
    before += used_grants(case, at=at)
    try:
        await parts.store.start(
            invocation,
            warrant=warrant,
            durability=_durability(case),
            events=[*before, case.started(warrant, sandbox=parts.sandbox.name, at=at)],
            key_for=KEY_LIFETIME if is_keyed(case) else None,
            draws=case.known_terms.draws,
            spends=case.spends,
        )
    except CallRefused as lost:
        if case.resumed is None or lost.code in ("frozen", "tool_not_found"):
            raise  # nothing is on record yet, or it is no other process that took the call away
        raise AlreadyMoved(lost.message, code=lost.code, remedy=lost.remedy) from lost
    except asyncio.CancelledError as cancelled:
        # The start may be on record by now; then so must be that nothing came of it.
        await asyncio.shield(_record_unstarted(parts, case, cancelled))
        raise


async def _record_unstarted(parts: Parts, case: Case, cancelled: asyncio.CancelledError) -> None:
    try:
        await _write_failure(parts, case, cancelled, doubt="none", ran="no")
    except Exception:
        _log.exception("the cancellation of call %s could not be recorded", case.id)


async def record_refused(parts: Parts, case: Case, refusal: RingfenceError) -> Outcome:
    """The call ends before it began."""
    try:
        return _refused(case, await _write_refusal(parts, case, refusal))
    except Exception as error:  # a refusal that cannot be recorded is still a refusal
        _log.exception("a refusal of call %s could not be recorded", case.id)
        return _refused(case, unavailable(error))


async def _write_refusal(parts: Parts, case: Case, refusal: RingfenceError) -> RingfenceError:
    """Put the refusal on record; if the call was moved meanwhile, what is told is that."""
    if isinstance(refusal, TrailUnavailable) and case.resumed is not None:
        return refusal  # the votes are given and stay good until the trail can be written
    try:
        await _move_refused(parts, case, refusal)
    except CallRefused as lost:
        await parts.store.append([case.decided(code=lost.code)])
        return lost
    return refusal


async def _move_refused(parts: Parts, case: Case, refusal: RingfenceError) -> None:
    decided = case.decided(code=refusal.code)
    if isinstance(refusal, AlreadyMoved):
        again = [case.proposed()] if refusal.code == "approval_rejected" else []
        await parts.store.append([*again, decided])
    elif case.resumed is None:
        events = [case.proposed(), decided, *withheld_from(case, at=parts.now())]
        await parts.store.refuse(case.invocation(), code=refusal.code, events=events)
    elif refusal.code in ("approval_void", "approval_expired"):
        void = case.event("call_void", {"code": refusal.code, "message": refusal.message}, at=parts.now())
        await parts.store.withdraw(case.id, to=Status.VOID, code=refusal.code, events=[decided, void])
    else:
        # The row is refused as it was proposed: its tool may be gone, or its arguments no longer fit.
        await parts.store.refuse(case.resumed.invocation, code=refusal.code, events=[decided])


def unavailable(error: Exception) -> TrailUnavailable:
    """Whatever the store raised, as what it means for a call: it cannot be recorded."""
    if isinstance(error, TrailUnavailable):
        return error
    return TrailUnavailable(f"the call could not be recorded: {type(error).__name__}")


def _refused(case: Case, refusal: RingfenceError) -> Refused:
    return Refused(
        invocation_id=case.id,
        code=refusal.code,
        message=clean_output(refusal.message, limit=_MESSAGE_BYTES).text,
        remedy=refusal.remedy,
        reasons=case.verdict.reasons if case.verdict and refusal.code != "tool_not_found" else (),
    )


async def record_completed(parts: Parts, case: Case, clean: Cleansed) -> Outcome:
    """The call ended in a valid reply; if that cannot be recorded, nobody sees the reply."""
    effects = priced(parts, clean.raw.effects)
    completed = Completed(
        invocation_id=case.id, output=clean.output, text=clean.text, findings=clean.findings, effects=effects
    )
    try:
        bill = bill_for(parts, case, clean.raw)
        ending = Ending(status=Status.COMPLETED, code=None, outcome=completed.as_dict(), **bill)
        events = _completed_events(parts, case, clean, effects=effects)
        # A power cut before it is on disk leaves a start without an end: a call in doubt, which never runs again.
        durability: Literal["soon", "normal"] = "soon" if case.known_tool.tool.consequential else "normal"
        await parts.store.finish(case.id, ending=ending, durability=durability, events=events)
    except Exception:  # for whatever reason it is not on record, it is withheld
        _log.exception("call %s ran and could not be recorded", case.id)
        return _failed(case, code="in_doubt", message="the call ran, and what it said could not be recorded")
    return completed


def _completed_events(parts: Parts, case: Case, clean: Cleansed, *, effects: dict[str, Any]) -> list[AuditEvent]:
    at = parts.now()
    body = {
        "output_digest": digest(clean.spelled),
        "clean": clean.spelled.decode(),
        "raw": parts.seal.sealed(clean.raw.document(), about=case.id),
        "findings": [finding_document(finding) for finding in clean.findings] if clean.findings else [],
        "effects": effects,
        "evidence": clean.raw.evidence,
    }
    grave = _noticed(case, clean.findings, at=at) if clean.findings else ()
    noticed = (*grave, *refused_on_the_way(case, clean.raw, at=at))
    return [case.event("tool_completed", body, at=at), *noticed]


def _noticed(case: Case, findings: Sequence[Finding], *, at: datetime) -> Iterator[AuditEvent]:
    """Whatever was redacted or is an order to a model: an operator is told what kinds there were."""
    grave = sorted({finding.kind for finding in findings if finding.severity >= Severity.HIGH})
    if grave:
        yield case.event("security_event", {"what": "output_finding", "detail": grave}, at=at)


async def record_failed(parts: Parts, case: Case, failure: BaseException) -> Outcome:
    """The call was started and gave no valid reply; a cancelled one is recorded before the cancellation goes on."""
    recorded = await asyncio.shield(_record_failure(parts, case, failure))
    if not isinstance(failure, Exception):
        raise failure
    return recorded


async def _record_failure(parts: Parts, case: Case, failure: BaseException) -> Failed:
    if not isinstance(failure, RingfenceError | asyncio.CancelledError):
        _log.error("the sandbox failed on call %s: %s", case.id, _traced(failure))
    try:
        return await _write_failure(parts, case, failure, doubt=_doubt(case, failure))
    except Exception:
        _log.exception("call %s failed and could not be recorded", case.id)
        return _failed(case, code="in_doubt", message="the call was started, and how it ended could not be recorded")


def _doubt(case: Case, failure: BaseException) -> Literal["some", "none"]:
    """A call that could have changed something may have, unless the host's own measure shows that it did not."""
    tool = case.known_tool.tool
    effects = failure.raw.effects if isinstance(failure, Unanswered) else None
    sure = not tool.consequential or tool.far_side_dedupes or left_nothing(case.grant, effects)
    return "none" if sure else "some"


async def _write_failure(
    parts: Parts,
    case: Case,
    failure: BaseException,
    *,
    doubt: Literal["some", "none"],
    ran: Literal["yes", "no"] = "yes",
) -> Failed:
    code, message = _explained(failure)
    raw = failure.raw if isinstance(failure, Unanswered) else None
    remedy = failure.remedy if isinstance(failure, CallFailed | CallRefused) else None
    effects = priced(parts, raw.effects) if raw else {}
    failed = _failed(case, code=code, message=message, remedy=remedy, effects=effects)
    sealed = parts.seal.sealed(raw.document(), about=case.id) if raw else None
    at = parts.now()
    status: Literal[Status.IN_DOUBT, Status.FAILED] = Status.IN_DOUBT if doubt == "some" else Status.FAILED
    bill = bill_for(parts, case, raw) if ran == "yes" else given_back(case)
    ending = Ending(status=status, code=code, outcome=failed.as_dict(), **bill)
    found = clean_for_model(message, limit=_MESSAGE_BYTES).findings
    told = case.failed(code=code, message=failed.message, raw=raw, sealed=sealed, at=at)
    events = [told, *_noticed(case, found, at=at), *refused_on_the_way(case, raw, at=at)]
    await parts.store.finish(case.id, ending=ending, durability=_durability(case), events=events)
    return failed


def _explained(failure: BaseException) -> tuple[str, str]:
    if isinstance(failure, CallFailed | CallRefused):
        return failure.code, failure.message
    if isinstance(failure, asyncio.CancelledError):
        return "cancelled", "the call was cancelled"
    return "protocol_error", f"the sandbox failed: {type(failure).__name__}"


def _failed(
    case: Case, *, code: str, message: str, remedy: str | None = None, effects: dict[str, object] | None = None
) -> Failed:
    shown = visible(clean_output(message, limit=_MESSAGE_BYTES).text, lines="many")
    advice = remedy or CODES[code].remedy
    return Failed(invocation_id=case.id, code=code, message=shown, remedy=advice, effects=effects or {})


def _durability(case: Case) -> Literal["normal", "full"]:
    return "full" if case.known_tool.tool.consequential else "normal"
