"""A tool is asked whether its own call in doubt took effect, and its answer settles the call.

Takes: a recorded call in doubt, and the tool as it is now.  Gives: the call as it then stands.
Never: lets the question change anything: it runs in a jail of its own, with the same reach and nothing to write to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

from ringfence.agents.acting import Acting
from ringfence.approvals.warrant import Warrant
from ringfence.audit.events import AuditEvent, event
from ringfence.contract.fingerprint import canonical, digest
from ringfence.errors import CODES, CallFailed, Misuse, RingfenceError
from ringfence.execution.execute import Reply, Unanswered, execute, guard
from ringfence.execution.placing import placements_for
from ringfence.execution.sandbox import Job, RawOutput
from ringfence.policy.grant import only_asking, resolve_grant
from ringfence.registry.registry import RegisteredTool
from ringfence.runtime.cleaning import cleanse
from ringfence.runtime.invocation import Ending, Recorded, Status
from ringfence.runtime.outcome import Completed, Failed
from ringfence.runtime.parts import Parts
from ringfence.runtime.standing import require_thawed
from ringfence.sanitise import clean_output, visible

Word: TypeAlias = Literal["done", "not_done", "cannot_tell"]

BY = "reconcile"
_MESSAGE_BYTES = 2_000
_WORDS: dict[frozenset[str], tuple[Word, ...]] = {
    frozenset({"answer", "output"}): ("done",),
    frozenset({"answer"}): ("not_done", "cannot_tell"),
}


@dataclass(frozen=True, kw_only=True)
class Question:
    """One call in doubt, and who is asked about it."""

    doubted: Recorded
    tool: RegisteredTool
    acting: Acting
    asked_by: str

    @property
    def id(self) -> str:
        return self.doubted.invocation.id


async def reconcile(parts: Parts, question: Question) -> Recorded:
    """Ask, and settle the call where the answer settles it; without an answer it stays in doubt."""
    if not question.tool.tool.reconciles:
        return question.doubted
    await require_thawed(parts, agent=question.doubted.invocation.agent, tool=question.tool.name)
    job = await _job(parts, question)
    await parts.store.append([_started(parts, question, job)])
    try:
        reply = await _asked(parts, job)
        word, ending = _understood(reply, question)
    except RingfenceError as failure:
        await parts.store.append([_ended(parts, question, failure=failure)])
        return question.doubted
    told = _ended(parts, question, word=word, raw=reply.raw)
    if ending is None:
        await parts.store.append([told])
        return question.doubted
    await _settle(parts, question, ending=ending, told=told)
    settled = await parts.store.recorded(question.id)
    return question.doubted if settled is None else settled


async def _job(parts: Parts, question: Question) -> Job:
    kept, tool = question.doubted.invocation, question.tool
    permits = question.acting.permits
    whole = resolve_grant(tool.name, tool.tool.needs, permits=permits, egress=tool.egress)
    job = Job(
        kind=tool.runs_as,
        invocation_id=kept.id,
        tool=tool,
        arguments=b"{}",
        grant=only_asking(whole),
        limits=tool.tool.limits.capped_by(parts.rulings.limits),
        agent=kept.agent,
        session=kept.session,
        idempotency_key=kept.idempotency_key,
        account=question.acting.account,
        purpose="reconcile",
    )
    guard(job, sandbox=parts.sandbox)
    return replace(job, placements=await placements_for(job.grant, strongbox=parts.strongbox, account=job.account))


async def _asked(parts: Parts, job: Job) -> Reply:
    # Nobody votes on a question; the digest says what this warrant is for, and the edge opens for reading alone.
    about = digest(canonical({"reconcile": job.invocation_id, "tool": job.tool.fingerprint}))
    warrant = Warrant(invocation_id=job.invocation_id, basis="allowed", approval_id=None, digest=about)
    work = execute(job, warrant=warrant, sandbox=parts.sandbox)
    return await parts.running.run(work, agent=job.agent, tool=job.tool.name, started_at=parts.now())


def _understood(reply: Reply, question: Question) -> tuple[Word, Ending | None]:
    """The answer as the end of the call; `None` where it settles nothing. A stranger wrote it."""
    output: object = reply.output
    said = cast("dict[str, Any]", output) if isinstance(output, dict) else {}
    possible = _WORDS.get(frozenset(said), ())
    word: Word | None = next((known for known in possible if known == said["answer"]), None)
    if word is None or reply.for_model is not None:
        raise Unanswered("the answer of `reconcile` is none of the three", code="protocol_error", raw=reply.raw)
    if word == "cannot_tell":
        return word, None
    return word, _not_done(question) if word == "not_done" else _done(reply, said["output"], question)


def _done(reply: Reply, output: Any, question: Question) -> Ending:
    try:
        clean = cleanse(replace(reply, output=output), shape=question.tool.shape)
    except CallFailed as withheld:
        raise Unanswered(withheld.message, code=withheld.code, raw=reply.raw) from None
    told = Completed(invocation_id=question.id, output=clean.output, text=clean.text, findings=clean.findings)
    return Ending(status=Status.COMPLETED, code=None, outcome=told.as_dict())


def _not_done(question: Question) -> Ending:
    code = "cancelled"
    message = "the tool's own `reconcile` says that it did not take effect"
    told = Failed(invocation_id=question.id, code=code, message=message, remedy=CODES[code].remedy)
    return Ending(status=Status.FAILED, code=code, outcome=told.as_dict())


async def _settle(parts: Parts, question: Question, *, ending: Ending, told: AuditEvent) -> None:
    body = {"status": ending.status.value, "by": BY, "because": f"the tool says so, asked by {question.asked_by}"}
    settled = _event(parts, question, "call_settled", body)
    try:
        await parts.store.settle(question.id, ending=ending, events=[told, settled], role="application")
    except Misuse:
        # Somebody settled it meanwhile; what was said is still on record, and theirs is the word that counts.
        await parts.store.append([told])


def _started(parts: Parts, question: Question, job: Job) -> AuditEvent:
    body = {
        "fingerprint": question.tool.fingerprint,
        "source_digest": question.tool.source_digest,
        "sandbox": parts.sandbox.name,
        "grant": job.grant.document(),
        "secrets": job.placements.versions if job.placements else {},
        "idempotency_key": job.idempotency_key,
        "asked_by": question.asked_by,
    }
    return _event(parts, question, "reconcile_started", body)


def _ended(
    parts: Parts,
    question: Question,
    *,
    word: Word | None = None,
    raw: RawOutput | None = None,
    failure: RingfenceError | None = None,
) -> AuditEvent:
    raw = failure.raw if isinstance(failure, Unanswered) else raw
    message = visible(clean_output(failure.message, limit=_MESSAGE_BYTES).text, lines="many") if failure else None
    body = {
        "answer": word,
        "code": failure.code if failure else None,
        "message": message,
        "raw": parts.seal.sealed(raw.document(), about=question.id) if raw else None,
        "effects": raw.effects.document() if raw else {},
        "evidence": raw.evidence if raw else {},
    }
    return _event(parts, question, "reconcile_ended", body)


def _event(parts: Parts, question: Question, kind: str, body: dict[str, Any]) -> AuditEvent:
    return event(
        kind,
        at=parts.now(),
        body=body,
        agent=question.doubted.invocation.agent,
        tool=question.tool.name,
        safety=question.tool.safety.value,
        invocation_id=question.id,
    )
