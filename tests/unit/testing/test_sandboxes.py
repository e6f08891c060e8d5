"""Every sandbox there is passes the suite that ships with the protocol."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import pytest

from ringfence.errors import CallRefused
from ringfence.execution.execute import execute
from ringfence.execution.sandbox import DenyAllSandbox, Job, RawOutput, Sandbox
from ringfence.testing import DangerouslyScriptedSandbox
from ringfence.testing.sandbox_suite import SandboxSuite, job_for, suite_echo, warrant_for


def scripted() -> DangerouslyScriptedSandbox:
    def failing(said: dict[str, Any]) -> Any:
        raise ValueError(said["text"])

    return DangerouslyScriptedSandbox({"suite_echo": lambda said: said["text"], "suite_raise": failing})


@pytest.mark.req("SBX-1")
class TestDenyAll(SandboxSuite):
    @staticmethod
    def factory() -> Sandbox:
        return DenyAllSandbox()

    runs: ClassVar[Literal["jobs", "nothing"]] = "nothing"


@pytest.mark.req("SBX-1", "OPS-6")
class TestScripted(SandboxSuite):
    @staticmethod
    def factory() -> Sandbox:
        return scripted()


class _Careless(DangerouslyScriptedSandbox):
    """Breaks one promise after the other; the suite has to see each."""

    async def run(self, job: Job) -> RawOutput:
        raise ValueError("from inside")


@pytest.mark.req("SBX-1")
async def test_the_suite_sees_a_sandbox_that_raises() -> None:
    class Broken(SandboxSuite):
        @staticmethod
        def factory() -> Sandbox:
            return _Careless({"suite_echo": lambda _: "x", "suite_raise": lambda _: "x"})

    with pytest.raises(ValueError, match="from inside"):
        await Broken().test_what_goes_wrong_inside_is_a_fault_and_not_an_exception()


@pytest.mark.req("SBX-1")
async def test_the_suite_sees_a_sandbox_that_runs_what_it_refuses() -> None:
    class Sly(DangerouslyScriptedSandbox):
        def refusal(self, job: Job) -> CallRefused | None:
            return CallRefused("not here", code="sandbox_denied")

    class Broken(SandboxSuite):
        @staticmethod
        def factory() -> Sandbox:
            return Sly({"suite_echo": lambda _: "x"})

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        await Broken().test_a_job_it_refuses_does_not_run()


@pytest.mark.req("APR-3", "SBX-1")
async def test_a_warrant_for_another_call_runs_nothing() -> None:
    sandbox = scripted()
    with pytest.raises(CallRefused, match="another call") as refusal:
        await execute(job_for(suite_echo), warrant=warrant_for(job_for(suite_echo, number=2)), sandbox=sandbox)
    assert (refusal.value.code, sandbox.jobs) == ("approval_void", [])
    reply = await execute(job_for(suite_echo), warrant=warrant_for(job_for(suite_echo)), sandbox=sandbox)
    assert reply.output == "x"
