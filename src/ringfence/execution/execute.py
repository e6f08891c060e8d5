"""The fail-closed guard before a jail, and the suspicious reader behind it.

Takes: a job with its warrant.  Gives: a `Reply` of plain JSON data, or the fault.
Never: runs a tool whose needs have no backend, and never believes a byte that comes back.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from ringfence.approvals.warrant import Warrant
from ringfence.contract.values import NotPlain, parse_json
from ringfence.errors import CallFailed, CallRefused
from ringfence.execution.retry import may_repeat, pauses
from ringfence.execution.sandbox import Effects, Job, RawOutput, Sandbox

DEFAULT_OUTPUT_KB = 1_024
OUTPUT_DEPTH = 64


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A reply that is at least JSON; whether it fits the contract is still to be seen."""

    output: Any
    for_model: str | None
    raw: RawOutput


def guard(job: Job, *, sandbox: Sandbox) -> None:
    """Refuse a job that this sandbox cannot hold to its contract."""
    missing = job.grant.kinds - sandbox.serves
    if missing and not sandbox.serves:
        message = f"tool `{job.tool.name}` declares capabilities but no capability backends are configured"
        raise CallRefused(message, code="not_available")
    if missing:
        listed = ", ".join(f"`{kind}`" for kind in sorted(missing))
        raise CallRefused(f"tool `{job.tool.name}` needs {listed}, which has no backend here", code="not_available")
    refusal = sandbox.refusal(job)
    if refusal is not None:
        raise refusal


async def execute(job: Job, *, warrant: Warrant, sandbox: Sandbox) -> Reply:
    """Run one warranted job and read what it said."""
    if warrant.invocation_id != job.invocation_id:
        raise CallRefused("the warrant is for another call", code="approval_void")
    raw = await _run(job if job.warrant is warrant else replace(job, warrant=warrant), sandbox=sandbox)
    if raw.fault is not None:
        raise Unanswered(raw.fault.message, code=raw.fault.code, remedy=raw.fault.remedy, raw=raw)
    return Reply(output=_parsed(raw, job=job), for_model=raw.for_model, raw=raw)


async def _run(job: Job, *, sandbox: Sandbox) -> RawOutput:
    """One attempt, or as many as the contract allows and none of which can have done harm; all under the same key."""
    raw = await sandbox.run(job)
    if raw.fault is None:
        return raw
    earlier: tuple[Effects, ...] = ()
    for pause in pauses(job.tool.tool):
        if not may_repeat(job, raw):
            break
        earlier = (*earlier, raw.effects)
        await asyncio.sleep(pause)
        raw = await sandbox.run(job)
    return replace(raw, effects=replace(raw.effects, earlier=earlier)) if earlier else raw


class Unanswered(CallFailed):
    """The call was started and gave no usable reply; what the host saw of it is kept."""

    def __init__(self, message: str, *, code: str, raw: RawOutput, remedy: str | None = None) -> None:
        super().__init__(message, code=code, remedy=remedy)
        self.raw = raw


def _parsed(raw: RawOutput, *, job: Job) -> Any:
    size = (job.limits.output_kb or DEFAULT_OUTPUT_KB) * 1024
    if raw.reply is None:
        raise Unanswered("the jail gave neither a reply nor a fault", code="protocol_error", raw=raw)
    if len(raw.reply) > size:
        raise Unanswered(f"the output is larger than {size} bytes", code="output_limit", raw=raw)
    try:
        return parse_json(raw.reply, size=size, depth=OUTPUT_DEPTH)
    except NotPlain as error:
        raise Unanswered(f"the reply is not plain JSON: {error.problem}", code="protocol_error", raw=raw) from None
