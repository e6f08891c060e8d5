"""What happened under a key does not happen again; what may have happened is a person's to settle."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from ringfence.assembly.assemble import utc_now
from ringfence.errors import Misuse, OperatorRequired
from ringfence.runtime import Failed
from ringfence.runtime import once as once_stage
from ringfence.runtime.invocation import Status
from tests.acceptance.database.conftest import MakeConfig, settings
from tests.acceptance.spine.household import (
    Clock,
    House,
    assert_completed,
    assert_refused,
    fault,
    open_house,
    scripted,
)

__all__ = ["settings"]  # also where the folder's conftest is not read

NOTE = ("note", {"text": "x"})
PUT = ("draft", {"title": "x"})


def house(settings: MakeConfig, **changes: Any) -> Any:
    sandbox = changes.pop("sandbox", None)
    clock = changes.pop("clock", None) or Clock(at=utc_now())
    return open_house(settings(**changes), sandbox=sandbox, clock=clock)


async def in_doubt(one: House, session: Any) -> str:
    outcome = await session.call(*PUT, idempotency_key="k")
    assert isinstance(outcome, Failed), outcome
    recorded = await one.runtime.recorded(outcome.invocation_id)
    assert recorded is not None
    assert recorded.status is Status.IN_DOUBT
    return outcome.invocation_id


@pytest.mark.req("IDM-2")
async def test_the_same_key_and_arguments_give_the_recorded_result_and_run_nothing(settings: MakeConfig) -> None:
    async with house(settings) as one:
        first = assert_completed(await one.session().call(*PUT, idempotency_key="k"))
        again = assert_completed(await one.session().call(*PUT, idempotency_key="k"))
        assert (again.invocation_id, again.output, again.text) == (first.invocation_id, first.output, first.text)
        assert one.ran == ["draft"]
        (told,) = await one.events("call_repeated")
        assert told["body"]["of"] == first.invocation_id


@pytest.mark.req("IDM-2", "SCL-1")
async def test_another_process_is_given_the_recorded_result_too(settings: MakeConfig) -> None:
    clock = Clock(at=utc_now())
    async with house(settings, clock=clock) as one, house(settings, clock=clock) as two:
        first = assert_completed(await one.session().call(*PUT, idempotency_key="k"))
        again = assert_completed(await two.session().call(*PUT, idempotency_key="k"))
        assert (again.invocation_id, one.ran, two.ran) == (first.invocation_id, ["draft"], [])


@pytest.mark.req("IDM-2")
async def test_the_same_key_with_other_arguments_is_a_conflict(settings: MakeConfig) -> None:
    async with house(settings) as one:
        assert_completed(await one.session().call(*PUT, idempotency_key="k"))
        other = await one.session().call("draft", {"title": "y"}, idempotency_key="k")
        assert_refused(other, "idempotency_conflict")
        assert one.ran == ["draft"]


@pytest.mark.req("IDM-2")
async def test_a_read_that_was_given_a_key_is_told_again_and_one_without_runs_again(settings: MakeConfig) -> None:
    async with house(settings) as one:
        for key in ("k", "k", None, None):
            assert_completed(await one.session(id="s").call("echo", {"text": "x"}, idempotency_key=key))
        assert one.ran == ["echo"] * 3


@pytest.mark.req("IDM-2", "SCL-1")
async def test_a_call_in_flight_is_waited_for_and_its_result_shared(settings: MakeConfig) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()
    clock, slow = Clock(at=utc_now()), scripted()
    run = slow.run

    async def held(job: Any) -> Any:
        entered.set()
        await leave.wait()
        return await run(job)

    slow.run = held  # type: ignore[method-assign]
    async with house(settings, clock=clock, sandbox=slow) as one, house(settings, clock=clock) as two:
        first = asyncio.create_task(one.session().call(*PUT, idempotency_key="k"))
        await entered.wait()
        second = asyncio.create_task(two.session().call(*PUT, idempotency_key="k"))
        await asyncio.wait([second], timeout=0.05)
        assert not second.done()
        leave.set()
        assert assert_completed(await first).invocation_id == assert_completed(await second).invocation_id
        assert (one.ran, two.ran) == (["draft"], [])


@pytest.mark.req("IDM-2")
async def test_whoever_waits_too_long_is_told_that_it_is_in_flight(
    settings: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(once_stage, "WAIT_SECONDS", 0.01)
    leave, slow = asyncio.Event(), scripted()
    run = slow.run

    async def held(job: Any) -> Any:
        await leave.wait()
        return await run(job)

    slow.run = held  # type: ignore[method-assign]
    async with house(settings, sandbox=slow) as one:
        first = asyncio.create_task(one.session().call(*PUT, idempotency_key="k"))
        assert not (await asyncio.wait([first], timeout=0.2))[0]
        assert_refused(await one.session().call(*PUT, idempotency_key="k"), "in_flight")
        leave.set()
        assert_completed(await first)


@pytest.mark.req("IDM-3")
async def test_a_call_in_doubt_keeps_its_key_for_longer_than_any_time(settings: MakeConfig) -> None:
    async with house(settings, sandbox=scripted({"draft": fault("it broke")})) as one:
        await in_doubt(one, one.session())
        assert_refused(await one.session().call(*PUT, idempotency_key="k"), "in_doubt")
        one.clock.forward(timedelta(days=30))
        assert_refused(await one.session().call(*PUT, idempotency_key="k"), "in_doubt")
        assert one.ran == ["draft"]


@pytest.mark.req("IDM-3")
async def test_a_call_that_could_reach_nothing_gives_its_key_back(settings: MakeConfig) -> None:
    async with house(settings, sandbox=scripted({"note": fault("it broke")})) as one:
        for _ in range(2):
            assert isinstance(await one.session().call(*NOTE, idempotency_key="k"), Failed)
        assert one.ran == ["note", "note"]


@pytest.mark.req("IDM-3")
async def test_a_call_whose_far_side_knows_the_key_gives_it_back(settings: MakeConfig) -> None:
    async with house(settings, sandbox=scripted({"deduped_write": fault("it broke", code="protocol_error")})) as one:
        for _ in range(2):
            outcome = await one.session().call("deduped_write", {"name": "x"}, idempotency_key="k")
            assert isinstance(outcome, Failed), outcome
        keys = {job.idempotency_key for job in one.sandbox.jobs}
    assert (len(keys), len(one.sandbox.jobs) >= 2) == (1, True)


@pytest.mark.req("IDM-2")
async def test_a_key_is_free_again_after_a_day(settings: MakeConfig) -> None:
    async with house(settings) as one:
        first = assert_completed(await one.session().call(*PUT, idempotency_key="k"))
        one.clock.forward(timedelta(hours=23, minutes=59))
        assert assert_completed(await one.session().call(*PUT, idempotency_key="k")) != one
        assert one.ran == ["draft"]
        one.clock.forward(timedelta(minutes=1))
        later = assert_completed(await one.session().call(*PUT, idempotency_key="k"))
        assert (later.invocation_id != first.invocation_id, one.ran) == (True, ["draft", "draft"])


@pytest.mark.req("IDM-3")
@pytest.mark.parametrize(("to", "then"), [("completed", "completed"), ("failed", "runs")])
async def test_an_operator_settles_a_call_in_doubt(settings: MakeConfig, to: Any, then: str) -> None:
    jail = scripted({"draft": fault("it broke")})
    async with house(settings, sandbox=jail) as one:
        doubted = await in_doubt(one, one.session())
        with pytest.raises(OperatorRequired):
            await one.runtime.calls.settle(doubted, by="alice", to=to, because="I looked")
        settled = await one.runtime.calls.settle(doubted, by="bob", to=to, because="I looked", output="sent")
        assert settled.status.value == to
        with pytest.raises(Misuse, match="not in doubt"):
            await one.runtime.calls.settle(doubted, by="bob", to=to, because="again")
        again = await one.session().call(*PUT, idempotency_key="k")
        if then == "completed":
            assert (assert_completed(again).invocation_id, assert_completed(again).output) == (doubted, "sent")
        else:
            assert isinstance(again, Failed)
        assert len(one.ran) == (1 if then == "completed" else 2)
        (told,) = await one.events("call_settled")
        assert told["body"] == {"status": to, "by": "bob", "because": "I looked"}


@pytest.mark.req("IDM-3", "SCL-1")
async def test_the_call_of_a_process_that_is_gone_is_in_doubt_and_a_read_has_failed(settings: MakeConfig) -> None:
    clock, slow = Clock(at=utc_now()), scripted()
    never = asyncio.Event()

    async def hangs(job: Any) -> Any:
        await never.wait()

    slow.run = hangs  # type: ignore[method-assign]
    async with house(settings, clock=clock, sandbox=slow) as dead:
        calls = [
            asyncio.create_task(dead.session().call(*PUT, idempotency_key="k")),
            asyncio.create_task(dead.session().call("echo", {"text": "x"})),
        ]
        await asyncio.wait(calls, timeout=0.3)
        # It says no more that it lives, and no longer ends what it began: as after a crash.
        kept: Any = dead.runtime._parts.store  # pyright: ignore[reportPrivateUsage]
        kept.enlist = kept.finish = _refuse
        clock.forward(timedelta(minutes=1))
        async with house(settings, clock=clock) as alive:
            ended = {each.invocation.tool: each.status for each in await alive.runtime.calls.list()}
            assert ended == {"draft": Status.IN_DOUBT, "echo": Status.FAILED}
            assert_refused(await alive.session().call(*PUT, idempotency_key="k"), "in_doubt")
            assert alive.ran == []
        never.set()
        await asyncio.gather(*calls, return_exceptions=True)


async def _refuse(*_: Any, **__: Any) -> None:
    raise Misuse("this process is dead")


@pytest.mark.req("OPS-1")
async def test_an_operator_takes_back_a_call_that_waits(settings: MakeConfig) -> None:
    async with house(settings) as one:
        asked = await one.session().call("pay", {"to": "shop", "amount": 1})
        taken = await one.runtime.calls.cancel(asked.invocation_id, by="bob")
        assert taken.status is Status.VOID
        assert await one.runtime.approvals.list() == []
