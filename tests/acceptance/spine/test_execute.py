"""Execution: nothing runs without a sandbox, without a backend, or twice; a cancelled call is on record."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import open_runtime
from ringfence.contract.capabilities import Kind
from ringfence.errors import CallRefused, Misuse
from ringfence.execution.sandbox import Job, RawOutput
from ringfence.runtime import Completed, Failed, blocking
from ringfence.runtime.invocation import Status
from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import (
    assert_completed,
    assert_refused,
    assert_waiting,
    config,
    fault,
    open_house,
    open_with,
    rule,
    rules,
    scripted,
)


class Jail:
    """A sandbox that a test can stop, break and watch."""

    name = "a_test_jail"
    serves: frozenset[Kind] = frozenset({"files", "network", "processes", "secrets", "storage"})

    def __init__(self, *, refusal: BaseException | None = None, running: BaseException | None = None) -> None:
        self.entered = asyncio.Event()
        self.closed = 0
        self._refusal, self._running = refusal, running

    def refusal(self, job: Job) -> CallRefused | None:
        if isinstance(self._refusal, CallRefused) or self._refusal is None:
            return self._refusal
        raise self._refusal

    async def run(self, job: Job) -> RawOutput:
        self.entered.set()
        if self._running is not None:
            raise self._running
        await asyncio.Event().wait()
        raise AssertionError

    async def close(self) -> None:
        self.closed += 1


@pytest.mark.req("SBX-1")
async def test_without_a_configured_sandbox_nothing_runs(tmp_path: Path) -> None:
    async with open_with(config(tmp_path), None) as runtime:
        outcome = assert_refused(await runtime.session(agent="ana").call("echo", {"text": "x"}), "sandbox_denied")
    assert "sandbox: {kind: local}" in outcome.remedy


@pytest.mark.req("SBX-1")
async def test_an_approved_call_does_not_run_without_a_sandbox_either(tmp_path: Path) -> None:
    async with open_with(config(tmp_path), None) as runtime:
        session = runtime.session(agent="ana")
        asked = assert_waiting(await session.call("publish", {"text": "x"}))
        await runtime.approvals.vote(asked.approval_id, voter="alice", decision="approve")
        assert_refused(await session.resume(asked.invocation_id), "sandbox_denied")


@pytest.mark.req("SBX-7")
async def test_a_tool_with_needs_and_no_backend_at_all_is_refused_by_name(tmp_path: Path) -> None:
    async with open_with(config(tmp_path), None) as runtime:
        outcome = assert_refused(await runtime.session(agent="ana").call("read_page", {"title": "x"}), "not_available")
    assert outcome.message == "tool `read_page` declares capabilities but no capability backends are configured"


@pytest.mark.req("SBX-7")
async def test_a_tool_with_a_need_that_has_no_backend_here_is_refused_by_name_and_kind(tmp_path: Path) -> None:
    jail = scripted(serves=frozenset({"files"}))
    async with open_house(config(tmp_path), sandbox=jail) as house:
        assert_completed(await house.call("read_page", {"title": "x"}))
        outcome = assert_refused(await house.call("fetch_lead", {"name": "x"}), "not_available")
        assert house.ran == ["read_page"]
        assert len(await house.events("tool_started")) == 1
    assert "`fetch_lead` needs `network`" in outcome.message


@pytest.mark.req("SBX-1", "AUD-1")
async def test_what_a_sandbox_refuses_is_refused_before_the_call_is_started(tmp_path: Path) -> None:
    jail = Jail(refusal=CallRefused("not on this machine", code="posture_insufficient"))
    async with open_with(config(tmp_path), jail) as runtime:
        assert_refused(await runtime.session(agent="ana").call("echo", {"text": "x"}), "posture_insufficient")
        assert [e async for e in runtime.audit.export() if e["kind"] == "tool_started"] == []
    assert jail.closed


@pytest.mark.req("SBX-1", "POL-1")
async def test_a_sandbox_that_breaks_while_it_is_asked_is_a_refusal_on_record(tmp_path: Path) -> None:
    async with open_with(config(tmp_path), Jail(refusal=RuntimeError("\x1b[31mboom"))) as runtime:
        outcome = assert_refused(await runtime.session(agent="ana").call("echo", {"text": "x"}), "policy_denied")
        decisions = [e async for e in runtime.audit.export() if e["kind"] == "policy_decision"]
    assert outcome.message == "deciding failed: RuntimeError"
    assert [each["body"]["code"] for each in decisions] == ["policy_denied"]


@pytest.mark.req("SBX-1")
async def test_a_sandbox_that_breaks_while_it_runs_is_a_failure_that_tells_nothing_of_it(tmp_path: Path) -> None:
    async with open_with(config(tmp_path), Jail(running=RuntimeError("a secret path"))) as runtime:
        outcome = await runtime.session(agent="ana").call("echo", {"text": "x"})
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.message) == ("protocol_error", "the sandbox failed: RuntimeError")


@pytest.mark.req("SBX-1")
async def test_a_fault_with_a_code_that_nobody_knows_is_a_protocol_error(tmp_path: Path) -> None:
    async with open_house(config(tmp_path), sandbox=scripted({"echo": fault("x", code="made_up")})) as house:
        outcome = await house.call("echo", {"text": "x"})
    assert isinstance(outcome, Failed)
    assert outcome.code == "protocol_error"


@pytest.mark.req("AUD-1")
@pytest.mark.parametrize(
    ("tool", "arguments", "status"),
    [("echo", {"text": "x"}, Status.FAILED), ("draft", {"title": "x"}, Status.IN_DOUBT)],
)
async def test_a_cancelled_call_is_recorded_and_stays_cancelled(
    tmp_path: Path, tool: str, arguments: dict[str, Any], status: Status
) -> None:
    jail = Jail()
    async with open_with(config(tmp_path), jail) as runtime:
        call = asyncio.create_task(runtime.session(agent="ana").call(tool, arguments))
        await jail.entered.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        (failed,) = [e async for e in runtime.audit.export() if e["kind"] == "tool_failed"]
        recorded = await runtime.recorded(failed["invocation_id"])
    assert failed["body"]["code"] == "cancelled"
    assert recorded is not None
    assert (recorded.status, recorded.code) == (status, "cancelled")


@pytest.mark.req("AUD-1")
async def test_a_call_cancelled_while_its_start_is_written_does_not_stay_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_house(config(tmp_path)) as house:
        store, writing = house.runtime._parts.store, asyncio.Event()  # pyright: ignore[reportPrivateUsage]
        start = store.start

        async def watched(*given: Any, **named: Any) -> None:
            writing.set()
            await start(*given, **named)

        monkeypatch.setattr(store, "start", watched)
        call = asyncio.create_task(house.session().call("note", {"text": "x"}))
        await writing.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        (started,) = await house.events("tool_started")
        recorded = await house.runtime.recorded(started["invocation_id"])
        assert house.ran == []
    assert recorded is not None
    assert (recorded.status, recorded.code) == (Status.FAILED, "cancelled")


@pytest.mark.req("SBX-10")
async def test_the_calls_of_one_turn_run_side_by_side_and_answer_in_order(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        calls = [("echo", {"text": str(number)}) for number in range(5)]
        outcomes = await house.session().call_many([*calls, ("nope", {}), ("pay", {"to": "x", "amount": 1})])
    assert [each.status for each in outcomes] == ["completed"] * 5 + ["refused", "waiting"]
    assert [each.output for each in outcomes if isinstance(each, Completed)] == ["0", "1", "2", "3", "4"]


@pytest.mark.req("SBX-10")
async def test_a_mistake_in_one_of_many_calls_leaves_none_under_way(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        with pytest.raises(Misuse):
            await house.session().call_many([("echo", {"text": "x"}), ("echo", 7)])
        await asyncio.sleep(0)
        assert house.ran == []
        assert await house.events("tool_proposed") == []


@pytest.mark.req("IDM-1")
async def test_the_same_call_in_the_same_turn_runs_once_and_a_new_turn_is_another_call(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        for arguments in ({"text": "x"}, {"text": "x"}, {"text": "y"}):
            await session.call("note", arguments)
        session.heard("again, please")
        await session.call("note", {"text": "x"})
        await house.session().call("note", {"text": "x"})
        keys = [job.idempotency_key for job in house.sandbox.jobs]
    assert len(keys) == len(set(keys)) == 4


@pytest.mark.req("IDM-1")
async def test_a_key_given_by_the_caller_lives_in_the_namespace_of_agent_and_tool(tmp_path: Path) -> None:
    agents = {name: {"owner": "carol", "allowed_tools": ["*"]} for name in ("ana", "ben")}
    async with open_house(config(tmp_path, agents=agents)) as house:
        for agent, tool in (("ana", "note"), ("ana", "echo"), ("ben", "note"), ("ana", "note")):
            await house.session(agent=agent).call(tool, {"text": "x"}, idempotency_key="k")
        keys = [job.idempotency_key for job in house.sandbox.jobs]
    assert len(keys) == len(set(keys)) == 3
    assert "k" not in keys


@pytest.mark.req("CON-14")
async def test_explicit_paths_are_intersected_at_call_time_too_not_only_at_registration(tmp_path: Path) -> None:
    change = {"files": {"read": ["."], "write": ["outbox", "private"]}}
    async with open_house(config(tmp_path, agent=change)) as house:
        assert_completed(await house.call("read_page", {"title": "x"}))
        assert_completed(await house.call("draft", {"title": "x"}))
        grants = [job.grant.document() for job in house.sandbox.jobs]
    assert grants == [
        [{"kind": "files", "read": ["knowledge"], "write": []}],
        [{"kind": "files", "read": ["."], "write": ["outbox"]}],
    ]


@pytest.mark.req("CON-14")
async def test_limits_are_the_lower_of_the_tools_and_the_operators(tmp_path: Path) -> None:
    settings = config(tmp_path, sandbox={"limits": {"wall_seconds": 2, "memory_mb": 64}})
    async with open_house(settings) as house:
        assert_completed(await house.call("echo", {"text": "x"}))
        (job,) = house.sandbox.jobs
    assert (job.limits.wall_seconds, job.limits.memory_mb) == (2, 64)


@pytest.mark.req("SBX-1")
def test_the_blocking_twin_makes_the_same_calls(tmp_path: Path) -> None:
    settings = config(tmp_path, policy=rules(rule("approve", tool="note")))
    opening = open_runtime(settings, tools=toolbox.ALL, dangerously_sandbox=scripted())
    with blocking(opening) as runtime:
        session = runtime.session(agent="ana", user="ulla")
        assert_completed(session.call("echo", {"text": "x"}))
        asked = assert_waiting(session.call("note", {"text": "x"}))
        runtime.approvals.vote(asked.approval_id, voter="alice", decision="approve")
        assert_completed(session.resume(asked.invocation_id))
        assert [each.status for each in session.call_many([("echo", {"text": "x"})])] == ["completed"]
        assert runtime.explain("ana", "echo", {"text": "x"}).decision.word == "allow"
        assert runtime.status("ana").tools
        assert runtime.audit.verify().ok


@pytest.mark.req("AUD-3")
async def test_a_runtime_that_was_closed_makes_no_more_calls(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        assert_completed(await session.call("echo", {"text": "x"}))
    assert_refused(await session.call("echo", {"text": "x"}), "trail_unavailable")
    assert_refused(await session.resume("inv_" + "0" * 24), "trail_unavailable")
    assert house.ran == ["echo"]
