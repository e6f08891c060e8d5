"""The suite that every sandbox passes, whatever it is made of: a subclass names the sandbox and inherits the tests.

Takes: a `factory` that makes the sandbox, and whether it runs jobs at all.  Gives: tests for pytest to collect.
Never: knows how a sandbox isolates; that is proved by the attack tests of each.

    class TestMySandbox(SandboxSuite):
        @staticmethod
        def factory() -> Sandbox:
            return MySandbox()
"""
# ruff: noqa: S101

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import ClassVar, Literal

import pytest

from ringfence.approvals.warrant import Warrant
from ringfence.contract.call import Shape
from ringfence.contract.capabilities import KINDS, Capability, Files, Network, Processes, Secrets, Storage
from ringfence.contract.fingerprint import digest
from ringfence.contract.limits import Limits
from ringfence.contract.tool import Tool, tool
from ringfence.errors import CODES, CallRefused, Misuse
from ringfence.execution.execute import guard
from ringfence.execution.sandbox import Job, RawOutput, Sandbox
from ringfence.policy.grant import Grant
from ringfence.registry.pins import Trust
from ringfence.registry.registry import RegisteredTool
from ringfence.testing.only_tests import require_test_run

NEEDS: dict[str, Capability] = {
    "network": Network("sandbox.example"),
    "secrets": Secrets("SUITE_KEY", hosts=["sandbox.example"]),
    "storage": Storage("tool"),
    "files": Files(read=["suite"]),
    "processes": Processes("suite-binary"),
}


@tool(safety="read")
def suite_echo(text: str) -> str:
    """Say the same again."""
    return text


@tool(safety="read")
def suite_raise(text: str) -> str:
    """Raise what the text says."""
    raise ValueError(text)


def file_of(declared: Tool) -> tuple[str, Path]:
    """The module that declares a tool, and its file."""
    assert declared.implementation is not None, "the tool was read from a description"
    module = declared.implementation.function.__module__
    file = sys.modules[module].__file__
    assert file is not None, f"`{module}` has no file"
    return module, Path(file)


def job_for(
    declared: Tool,
    *,
    number: int = 1,
    text: str = "x",
    grant: tuple[Capability, ...] = (),
    source_digest: str | None = None,
) -> Job:
    """A job as the pipeline would hand it over, for a tool at the top level of a module."""
    module, file = file_of(declared)
    return Job(
        kind="python",
        invocation_id=f"inv_{number:024x}",
        tool=RegisteredTool(
            tool=declared,
            source=f"code:{module}",
            source_digest=source_digest or digest(file.read_bytes()),
            trust=Trust.PINNED,
            quarantine=None,
            shape=Shape(declared),
        ),
        arguments=json.dumps({"text": text}).encode(),
        grant=Grant(capabilities=grant),
        limits=Limits(wall_seconds=10, cpu_seconds=5, memory_mb=256, pids=64, disk_mb=16, output_kb=64),
        agent="suite",
        session="ses_suite",
        idempotency_key="sha256:" + "1" * 64,
    )


def warrant_for(job: Job) -> Warrant:
    return Warrant(invocation_id=job.invocation_id, basis="allowed", approval_id=None, digest="sha256:" + "2" * 64)


class SandboxSuite:
    """What `Sandbox` promises. `runs` is `nothing` for a sandbox that refuses every job."""

    runs: ClassVar[Literal["jobs", "nothing"]] = "jobs"
    echo: ClassVar[Tool] = suite_echo
    failing: ClassVar[Tool] = suite_raise

    @staticmethod
    def factory() -> Sandbox:
        raise Misuse("the suite has no sandbox to test", remedy="override `factory` with one that makes your sandbox")

    def job(self, declared: Tool, *, number: int = 1, text: str = "x", grant: tuple[Capability, ...] = ()) -> Job:
        """A job for this sandbox; one that keeps sources itself names them by its own digest."""
        return job_for(declared, number=number, text=text, grant=grant)

    def made(self) -> Sandbox:
        require_test_run("SandboxSuite")
        return self.factory()

    def test_it_has_a_name_for_the_trail_and_serves_known_capabilities_only(self) -> None:
        sandbox = self.made()
        assert sandbox.name.isidentifier()
        assert sandbox.serves <= frozenset(KINDS)

    def test_a_capability_without_a_backend_is_refused_before_anything_runs(self) -> None:
        sandbox = self.made()
        for kind in KINDS:
            if kind in sandbox.serves:
                continue
            with pytest.raises(CallRefused) as refusal:
                guard(self.job(self.echo, grant=(NEEDS[kind],)), sandbox=sandbox)
            assert refusal.value.code == "not_available"

    def test_what_it_would_refuse_is_said_beforehand_with_a_known_code(self) -> None:
        refusal = self.made().refusal(self.job(self.echo))
        assert (refusal is None) is (self.runs == "jobs")
        assert refusal is None or refusal.code in CODES

    async def test_a_job_it_refuses_does_not_run(self) -> None:
        sandbox, job = self.made(), self.job(self.echo)
        refusal = sandbox.refusal(job)
        if refusal is None:
            return
        with pytest.raises(CallRefused) as refused:
            await sandbox.run(job)
        assert refused.value.code == refusal.code
        await sandbox.close()

    async def test_a_job_it_accepts_is_answered_with_one_json_text(self) -> None:
        if self.runs == "jobs":
            answer = await self._answer(self.job(self.echo, text="hello"))
            assert answer.fault is None
            assert json.loads(answer.reply or b"") == "hello"

    async def test_what_goes_wrong_inside_is_a_fault_and_not_an_exception(self) -> None:
        if self.runs == "jobs":
            answer = await self._answer(self.job(self.failing, text="a reason"))
            assert answer.reply is None
            assert answer.fault is not None
            assert answer.fault.code == "tool_error"
            assert "a reason" in answer.fault.message

    async def test_the_host_measures_and_nothing_is_negative(self) -> None:
        if self.runs == "jobs":
            effects = (await self._answer(self.job(self.echo))).effects
            assert min(effects.wall_seconds, effects.cpu_seconds, effects.peak_memory_bytes) >= 0

    async def test_jobs_side_by_side_get_each_their_own_answer(self) -> None:
        if self.runs == "jobs":
            sandbox = self.made()
            jobs = [self.job(self.echo, number=number, text=str(number)) for number in range(1, 5)]
            try:
                answers = await asyncio.gather(*map(sandbox.run, jobs))
            finally:
                await sandbox.close()
            assert [json.loads(each.reply or b"") for each in answers] == ["1", "2", "3", "4"]

    async def test_closing_leaves_nothing_and_can_be_done_twice(self) -> None:
        before = asyncio.all_tasks()
        sandbox = self.made()
        if self.runs == "jobs":
            await sandbox.run(self.job(self.echo))
        await sandbox.close()
        await sandbox.close()
        assert asyncio.all_tasks() == before

    async def _answer(self, job: Job) -> RawOutput:
        sandbox = self.made()
        try:
            return await sandbox.run(job)
        finally:
            await sandbox.close()
