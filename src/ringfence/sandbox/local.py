"""The local jail as a sandbox: a fresh kernel-enforced process for every call.

Takes: jobs of kind `python` without needs.  Gives: raw output, with what the host saw of the very process that served.
Never: runs a tool whose contract differs from the registered one, or below the full posture.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ringfence.contract.capabilities import Kind
from ringfence.errors import CallRefused, RingfenceError
from ringfence.execution.sandbox import Effects, Fault, Job, RawOutput
from ringfence.kernel import landlock
from ringfence.sandbox.blueprint import Blueprint, compile_blueprint
from ringfence.sandbox.exchange import Said
from ringfence.sandbox.frames import job_frames
from ringfence.sandbox.pool import Pool, Request, Served
from ringfence.sandbox.reading import read

_MOST_PRINTED_TRACE = 8_192


class LocalProcessSandbox:
    """Serves Python tools without needs in namespaces, Landlock and seccomp of this machine."""

    name = "local"
    serves: frozenset[Kind] = frozenset()

    def __init__(self, pool: Pool, *, environment: Mapping[str, str] | None = None) -> None:
        self._pool = pool
        self._environment = dict(environment or {})
        self._blueprints: dict[Any, Blueprint] = {}

    def refusal(self, job: Job) -> CallRefused | None:
        """Why this job would not run here. What one module's jail came to says nothing about another's."""
        if job.kind != "python":
            return CallRefused(f"the local jail runs no `{job.kind}` jobs yet", code="not_available")
        if sys.platform != "linux":
            return CallRefused(f"the local jail needs Linux, and this is `{sys.platform}`", code="posture_insufficient")
        try:
            self.blueprint(job)
        except CallRefused as refused:
            return refused
        except RingfenceError as failure:
            return CallRefused(failure.message, code=failure.code, remedy=failure.remedy)
        return None

    async def run(self, job: Job) -> RawOutput:
        try:
            return await self._run(job)
        except RingfenceError as failure:
            return RawOutput(reply=None, fault=Fault(code=failure.code, message=failure.message))

    async def close(self) -> None:
        await self._pool.close()

    def blueprint(self, job: Job) -> Blueprint:
        """What the kernel will hold for this job."""
        key = (job.grant, job.limits)
        found = self._blueprints.get(key)
        if found is None:
            found = compile_blueprint(
                job.grant,
                limits=job.limits,
                environment=self._environment,
                installation=self._pool.installation,
                landlock_version=landlock.version(),
            )
            self._blueprints[key] = found
        return found

    async def _run(self, job: Job) -> RawOutput:
        refused = self.refusal(job)
        if refused is not None:
            raise refused
        blueprint = self.blueprint(job)
        frames = job_frames(
            "call",
            arguments=job.arguments,
            tool=job.tool.name,
            agent=job.agent,
            session=job.session,
            idempotency_key=job.idempotency_key,
        )
        served = await self._pool.serve(
            Request(
                agent=job.agent,
                source=job.tool.source_digest,
                blueprint=blueprint,
                frames=frames,
                contract=(job.tool.name, job.tool.fingerprint),
            )
        )
        return _raw(served, blueprint=blueprint)


def _raw(served: Served, *, blueprint: Blueprint) -> RawOutput:
    said = served.said
    reading = read(said, bounds=blueprint.layout.bounds)
    evidence: dict[str, Any] = {
        "sandbox": "local",
        "posture": served.posture.level,
        "blueprint": blueprint.hash,
        "process": served.seen.document(),
        "inside": served.posture.inside_digest,
        "cgroup": list(served.posture.controllers),
    }
    if reading.trace:
        evidence["trace"] = reading.trace[:_MOST_PRINTED_TRACE]
    return RawOutput(
        reply=reading.reply,
        for_model=reading.for_model,
        fault=reading.fault,
        printed=said.printed,
        effects=_effects(said),
        evidence=evidence,
    )


def _effects(said: Said) -> Effects:
    seen = said.record or said.measured
    return Effects(
        wall_seconds=said.wall_seconds,
        cpu_seconds=seen.cpu_seconds if seen else 0.0,
        peak_memory_bytes=seen.peak_memory_bytes if seen else 0,
    )
