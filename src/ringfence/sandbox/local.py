"""The local jail as a sandbox: a fresh kernel-enforced process for every call.

Takes: jobs of kind `python`.  Gives: raw output, with what the host saw of the very process that served.
Never: runs a tool whose contract differs from the registered one, or below the posture that is demanded.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ringfence.contract.capabilities import Kind
from ringfence.errors import CallRefused, RingfenceError
from ringfence.execution.edge import Edge, way_of
from ringfence.execution.sandbox import Effects, Fault, Job, RawOutput
from ringfence.execution.storage import Desks, scopes_of
from ringfence.sandbox.blueprint import SERVED, Blueprint
from ringfence.sandbox.confining import PostureName
from ringfence.sandbox.drafts import Drafts
from ringfence.sandbox.exchange import Said
from ringfence.sandbox.floor import Floor
from ringfence.sandbox.frames import job_frames
from ringfence.sandbox.outlet import Outlet
from ringfence.sandbox.pool import Pool, Request, Served, Undelivered
from ringfence.sandbox.reading import read
from ringfence.sandbox.writing import Writes

_MOST_PRINTED_TRACE = 8_192


class LocalProcessSandbox:
    """Serves Python tools in namespaces, Landlock and seccomp of this machine; each agent has its own workspace.

    `least` is the posture below which nothing runs; a tool can demand more.
    """

    name = "local"

    def __init__(
        self,
        pool: Pool,
        *,
        environment: Mapping[str, str] | None = None,
        workspaces: Mapping[str, str] | None = None,
        floor: Floor | None = None,
        edge: Edge | None = None,
        desks: Desks | None = None,
        least: PostureName = "confined",
    ) -> None:
        self._pool = pool
        self._edge = edge
        self._desks = desks
        absent: dict[Kind, object] = {"network": edge, "storage": desks}
        self.serves: frozenset[Kind] = SERVED - {kind for kind, backend in absent.items() if backend is None}
        self._drafts = Drafts(
            pool, environment=environment or {}, workspaces=workspaces or {}, floor=floor or Floor(), least=least
        )
        self._writes = Writes()

    def refusal(self, job: Job) -> CallRefused | None:
        """Why this job would not run here. What one module's jail came to says nothing about another's."""
        unserved = self._unserved(job)
        if unserved is not None:
            return unserved
        try:
            self._drafts.draw(job, purpose="to judge")
        except CallRefused as refused:
            return refused
        except RingfenceError as failure:
            return CallRefused(failure.message, code=failure.code, remedy=failure.remedy)
        return None

    def _unserved(self, job: Job) -> CallRefused | None:
        """Why no job of this kind, or with these needs, runs here."""
        if job.kind not in ("python", "process"):
            return CallRefused(f"the local jail runs no `{job.kind}` jobs yet", code="not_available")
        if sys.platform != "linux":
            return CallRefused(f"the local jail needs Linux, and this is `{sys.platform}`", code="posture_insufficient")
        if not job.grant.kinds <= self.serves:
            listed = ", ".join(f"`{kind}`" for kind in sorted(job.grant.kinds - self.serves))
            return CallRefused(f"the local jail has no backend for {listed}", code="not_available")
        if job.kind == "process" and "storage" in job.grant.kinds:
            why = f"tool `{job.tool.name}` is a program: a program has no `ctx`, and storage is reached by nothing else"
            return CallRefused(why, code="not_available")
        return None

    async def run(self, job: Job) -> RawOutput:
        try:
            return await self._run(job)
        except RingfenceError as failure:
            return RawOutput(reply=None, fault=Fault.of(failure))

    async def close(self) -> None:
        await self._pool.close()

    def blueprint(self, job: Job) -> Blueprint:
        """What the kernel will hold for this job, with its files as they are on disk now."""
        return self._drafts.draw(job, purpose="to run")

    def _outlet(self, job: Job) -> Outlet | None:
        if self._edge is None or "network" not in job.grant.kinds:
            return None
        return Outlet(edge=self._edge, job=job, way=way_of(job))

    async def _run(self, job: Job) -> RawOutput:
        await self._pool.find_out()
        await self._drafts.read_folders(job)
        unserved = self._unserved(job)
        if unserved is not None:
            raise unserved
        blueprint = self.blueprint(job)
        frames = job_frames(
            job.purpose,
            arguments=job.arguments,
            tool=job.tool.name,
            agent=job.agent,
            session=job.session,
            idempotency_key=job.idempotency_key,
            secrets=None if job.placements is None else job.placements.in_the_jail(),
            storage=scopes_of(job),
        )
        request = Request(
            agent=job.agent,
            source=job.tool.source_digest,
            blueprint=blueprint,
            frames=frames,
            contract=None if job.kind == "process" else (job.tool.name, job.tool.fingerprint),
            outlet=self._outlet(job),
            desk=self._desks.open(job) if self._desks is not None and "storage" in job.grant.kinds else None,
        )
        granted = blueprint.layout.granted
        if not granted:
            return _raw(await self._served(request), job=job, blueprint=blueprint, files=None)
        async with self._writes.watched(granted) as written:
            served = await self._served(request)
        return _raw(served, job=job, blueprint=blueprint, files=written.document)

    async def _served(self, request: Request) -> Served | Undelivered:
        """What came of it; that no process was given the job is an answer too, and its folders are looked at then."""
        try:
            return await self._pool.serve(request)
        except Undelivered as nobody:
            return nobody


def _untouched(job: Job, *, files: dict[str, Any] | None) -> Effects:
    """The effects of a job that no process was given: its ways were never opened."""
    network: dict[str, Any] = {"hosts": [], "names": [], "refusals": [], "more": 0, "bytes_out": 0, "bytes_in": 0}
    storage = {"reads": 0, "writes": 0, "bytes_written": 0}
    kinds = job.grant.kinds
    return Effects(
        network=network if "network" in kinds else None, storage=storage if "storage" in kinds else None, files=files
    )


def _raw(served: Served | Undelivered, *, job: Job, blueprint: Blueprint, files: dict[str, Any] | None) -> RawOutput:
    if isinstance(served, Undelivered):
        return RawOutput(reply=None, fault=Fault.of(served.why), effects=_untouched(job, files=files))
    said = served.said
    reading = read(said, bounds=blueprint.layout.bounds)
    evidence: dict[str, Any] = {
        "sandbox": "local",
        "posture": served.posture.level,
        "blueprint": blueprint.hash,
        "process": served.seen,
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
        effects=_effects(said, files=files, network=served.network, storage=served.storage),
        evidence=evidence,
    )


def _effects(
    said: Said, *, files: dict[str, Any] | None, network: dict[str, Any] | None, storage: dict[str, Any] | None
) -> Effects:
    seen = said.record or said.measured
    cpu_seconds = seen.cpu_seconds if seen else 0.0
    return Effects(
        wall_seconds=said.wall_seconds,
        cpu_seconds=max(cpu_seconds, said.tree.cpu_seconds) if said.tree else cpu_seconds,
        peak_memory_bytes=seen.peak_memory_bytes if seen else 0,
        files=files,
        network=network,
        storage=storage,
        processes=None if said.tree is None else {"started": said.tree.started},
    )
