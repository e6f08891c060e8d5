"""The local jail as a sandbox: a fresh kernel-enforced process for every call.

Takes: jobs of kind `python`.  Gives: raw output, with what the host saw of the very process that served.
Never: runs a tool whose contract differs from the registered one, or below the posture that is demanded.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from ringfence.contract.capabilities import Files, Kind, Processes
from ringfence.errors import CallRefused, RingfenceError
from ringfence.execution.edge import Edge, way_of
from ringfence.execution.sandbox import Effects, Fault, Job, RawOutput
from ringfence.execution.storage import Desks, scopes_of
from ringfence.inside.layout import Granted, Mount, Program
from ringfence.kernel import landlock
from ringfence.sandbox.blueprint import SERVED, Blueprint, compile_blueprint
from ringfence.sandbox.confining import PostureName, demanded
from ringfence.sandbox.exchange import Said
from ringfence.sandbox.floor import Floor
from ringfence.sandbox.footing import MOUNTED, Footing, footing_on_disk
from ringfence.sandbox.frames import job_frames
from ringfence.sandbox.granting import resolve_files
from ringfence.sandbox.libraries import Libraries
from ringfence.sandbox.library import programs_in
from ringfence.sandbox.outlet import Outlet, leads_to, trust_environment
from ringfence.sandbox.own import NOT_A_PROGRAM, Own, own_program
from ringfence.sandbox.pool import Pool, Request, Served, Undelivered
from ringfence.sandbox.programs import require_unchangeable, resolve_programs
from ringfence.sandbox.reading import read
from ringfence.sandbox.with_programs import (
    hidden_programs,
    mounts_with_programs,
    unread_folders,
    usual_folders,
)
from ringfence.sandbox.writing import Writes

_MOST_PRINTED_TRACE = 8_192
_MOST_BLUEPRINTS = 1_024


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
        self._environment = dict(environment or {})
        self._workspaces = dict(workspaces or {})
        self._floor = floor or Floor()
        self._least: PostureName = least
        self._blueprints: dict[Any, Blueprint] = {}
        self._owns: dict[tuple[str, bool], Own] = {}
        self._known_libraries = Libraries()
        self._writes = Writes()

    def refusal(self, job: Job) -> CallRefused | None:
        """Why this job would not run here. What one module's jail came to says nothing about another's."""
        unserved = self._unserved(job)
        if unserved is not None:
            return unserved
        try:
            self._drawn(job, purpose="to judge")
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
            return RawOutput(reply=None, fault=Fault(code=failure.code, message=failure.message))

    async def close(self) -> None:
        await self._pool.close()

    def blueprint(self, job: Job) -> Blueprint:
        """What the kernel will hold for this job, with its files as they are on disk now."""
        return self._drawn(job, purpose="to run")

    def _drawn(self, job: Job, *, purpose: Literal["to run", "to judge"]) -> Blueprint:
        """A blueprint; while folders of libraries are unread, one that only tells whether there could be one."""
        granted = self._granted(job)
        own = self._own(job)
        programs = tuple(dict.fromkeys((*self._programs(job, granted=granted), *own.programs)))
        libraries = self._libraries(programs, granted=granted)
        demands = demanded(self._least, job.tool.tool.posture)
        footing = self._footing(job, granted=granted, demands=demands)
        machine = (demands, self._pool.lacking, footing)
        key = (job.grant, job.limits, job.egress, granted, programs, libraries, own.entry, machine)
        found = self._blueprints.get(key)
        if found is None:
            unread = purpose == "to judge" and self._unread(programs, own)
            compiled = compile_blueprint(
                job.grant,
                limits=job.limits,
                environment={**self._environment, **trust_environment(job.grant, egress=job.egress)},
                installation=self._pool.installation,
                landlock_version=landlock.version(),
                granted=granted,
                programs=programs,
                libraries=libraries,
                entry=own.entry,
                hidden=_nothing_yet if unread else hidden_programs,
            )
            compiled = replace(compiled, leads_to=leads_to(job.grant, egress=job.egress))
            kinds = job.grant.kinds | own.kinds
            found = self._pool.fit(compiled, kinds=kinds, demands=demands, footing=footing)
            if not unread:
                self._remember(key, found)
        return found

    def _unread(self, programs: tuple[Program, ...], own: Own) -> tuple[str, ...]:
        if not programs and own.entry is None:
            return ()
        return unread_folders(mounts_with_programs(self._pool.installation, programs))

    async def _read_folders(self, job: Job) -> None:
        """Read what a jail for this job maps code from, once, while the event loop goes on."""
        own = self._own(job)
        for folder in self._unread((*self._programs(job, granted=()), *own.programs), own):
            await asyncio.to_thread(programs_in, folder)

    def _footing(self, job: Job, *, granted: tuple[Granted, ...], demands: PostureName) -> Footing:
        """Without namespaces the agent's folder has no other name and no other owner than its own."""
        on_disk = self._pool.lacking is not None and demands != "full" and "files" in job.grant.kinds
        return footing_on_disk(self._workspaces.get(job.agent), granted) if on_disk else MOUNTED

    def _remember(self, key: Any, blueprint: Blueprint) -> None:
        if len(self._blueprints) >= _MOST_BLUEPRINTS:
            self._blueprints.pop(next(iter(self._blueprints)))
        self._blueprints[key] = blueprint

    def _granted(self, job: Job) -> tuple[Granted, ...]:
        for need in job.grant.capabilities:
            if isinstance(need, Files):
                workspace = self._workspaces.get(job.agent)
                if workspace is None:
                    raise CallRefused(f"agent `{job.agent}` has no workspace", code="not_available")
                return resolve_files(need, workspace=workspace, floor=self._floor)
        return ()

    def _outlet(self, job: Job) -> Outlet | None:
        if self._edge is None or "network" not in job.grant.kinds:
            return None
        return Outlet(edge=self._edge, job=job, way=way_of(job))

    def _programs(self, job: Job, *, granted: tuple[Granted, ...]) -> tuple[Program, ...]:
        for need in job.grant.capabilities:
            if isinstance(need, Processes):
                return resolve_programs(need, granted=granted, safety=job.tool.safety)
        return ()

    def _libraries(self, programs: tuple[Program, ...], *, granted: tuple[Granted, ...]) -> tuple[Program, ...]:
        if not programs:
            return ()
        found = self._known_libraries.of(programs, usual=lambda: usual_folders(self._pool.installation, programs))
        for library in found:
            require_unchangeable(library, granted)
        return found

    def _own(self, job: Job) -> Own:
        """The program that a tool is, if it is one; a source never changes under its digest."""
        if job.kind != "process":
            return NOT_A_PROGRAM
        key = (job.tool.source_digest, "processes" in job.grant.kinds)
        if key not in self._owns:
            snapshot = self._pool.snapshot(job.tool.source_digest)
            self._owns[key] = own_program(snapshot, children="allowed" if key[1] else "refused")
        return self._owns[key]

    async def _run(self, job: Job) -> RawOutput:
        await self._pool.find_out()
        await self._read_folders(job)
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


def _nothing_yet(_mounts: Sequence[Mount]) -> tuple[str, ...]:
    """For a blueprint that nothing is built from."""
    return ()


def _raw(served: Served | Undelivered, *, job: Job, blueprint: Blueprint, files: dict[str, Any] | None) -> RawOutput:
    if isinstance(served, Undelivered):
        fault = Fault(code=served.why.code, message=served.why.message)
        return RawOutput(reply=None, fault=fault, effects=_untouched(job, files=files))
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
