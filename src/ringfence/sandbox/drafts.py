"""Draws the blueprint of a job, with what it needs of this machine's disk as that is now, and each one once.

Takes: a job.  Gives: its blueprint, or the refusal.  Never: takes a file or a program for what it was a call ago.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from ringfence.contract.capabilities import Files, Processes
from ringfence.errors import CallRefused
from ringfence.execution.sandbox import Job
from ringfence.inside.layout import Granted, Mount, Program
from ringfence.kernel import landlock
from ringfence.sandbox.blueprint import Blueprint, compile_blueprint
from ringfence.sandbox.confining import PostureName, demanded
from ringfence.sandbox.floor import Floor
from ringfence.sandbox.footing import MOUNTED, Footing, footing_on_disk
from ringfence.sandbox.granting import resolve_files
from ringfence.sandbox.libraries import Libraries
from ringfence.sandbox.library import programs_in
from ringfence.sandbox.outlet import leads_to, trust_environment
from ringfence.sandbox.own import NOT_A_PROGRAM, Own, own_program
from ringfence.sandbox.pool import Pool
from ringfence.sandbox.programs import require_unchangeable, resolve_programs
from ringfence.sandbox.with_programs import hidden_programs, mounts_with_programs, unread_folders, usual_folders

_MOST_BLUEPRINTS = 1_024


class OnDisk(NamedTuple):
    """What of this machine's disk goes into a blueprint."""

    granted: tuple[Granted, ...] = ()
    programs: tuple[Program, ...] = ()
    libraries: tuple[Program, ...] = ()
    own: Own = NOT_A_PROGRAM
    footing: Footing = MOUNTED


class Drafts:
    """The blueprints of one sandbox. `least` is the posture below which nothing runs; a tool can demand more."""

    def __init__(
        self,
        pool: Pool,
        *,
        environment: Mapping[str, str],
        workspaces: Mapping[str, str],
        floor: Floor,
        least: PostureName,
    ) -> None:
        self._pool = pool
        self._environment = dict(environment)
        self._workspaces = dict(workspaces)
        self._floor = floor
        self._least: PostureName = least
        self._blueprints: dict[Any, Blueprint] = {}
        self._owns: dict[tuple[str, bool], Own] = {}
        self._known_libraries = Libraries()

    def draw(self, job: Job, *, purpose: Literal["to run", "to judge"]) -> Blueprint:
        """A blueprint; while folders of libraries are unread, one that only tells whether there could be one."""
        on_disk = self._on_disk(job) if job.grant.is_on_disk or job.kind == "process" else None
        key = (job.grant, job.limits, job.egress, job.tool.tool.posture, self._pool.lacking, on_disk)
        found = self._blueprints.get(key)
        if found is None:
            on_disk = on_disk or OnDisk()
            unread = purpose == "to judge" and self._unread(on_disk.programs, on_disk.own)
            found = self._drawn(job, on_disk, hidden="not yet" if unread else "found")
            if not unread:
                self._remember(key, found)
        return found

    async def read_folders(self, job: Job) -> None:
        """Read what a jail for this job maps code from, once, while the event loop goes on."""
        if job.grant.is_on_disk or job.kind == "process":
            own = self._own(job)
            for folder in self._unread((*self._programs(job, granted=()), *own.programs), own):
                await asyncio.to_thread(programs_in, folder)

    def _drawn(self, job: Job, on_disk: OnDisk, *, hidden: Literal["not yet", "found"]) -> Blueprint:
        compiled = compile_blueprint(
            job.grant,
            limits=job.limits,
            environment={**self._environment, **trust_environment(job.grant, egress=job.egress)},
            installation=self._pool.installation,
            landlock_version=landlock.version(),
            granted=on_disk.granted,
            programs=on_disk.programs,
            libraries=on_disk.libraries,
            entry=on_disk.own.entry,
            hidden=_nothing_yet if hidden == "not yet" else hidden_programs,
        )
        return self._pool.fit(
            replace(compiled, leads_to=leads_to(job.grant, egress=job.egress)),
            kinds=job.grant.kinds | on_disk.own.kinds,
            demands=self._demands(job),
            footing=on_disk.footing,
        )

    def _on_disk(self, job: Job) -> OnDisk:
        granted = self._granted(job)
        own = self._own(job)
        programs = tuple(dict.fromkeys((*self._programs(job, granted=granted), *own.programs)))
        return OnDisk(
            granted=granted,
            programs=programs,
            libraries=self._libraries(programs, granted=granted),
            own=own,
            footing=self._footing(job, granted=granted),
        )

    def _demands(self, job: Job) -> PostureName:
        return demanded(self._least, job.tool.tool.posture)

    def _unread(self, programs: tuple[Program, ...], own: Own) -> tuple[str, ...]:
        if not programs and own.entry is None:
            return ()
        return unread_folders(mounts_with_programs(self._pool.installation, programs))

    def _footing(self, job: Job, *, granted: tuple[Granted, ...]) -> Footing:
        """Without namespaces the agent's folder has no other name and no other owner than its own."""
        on_disk = self._pool.lacking is not None and self._demands(job) != "full" and "files" in job.grant.kinds
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


def _nothing_yet(_mounts: Sequence[Mount]) -> tuple[str, ...]:
    """For a blueprint that nothing is built from."""
    return ()
