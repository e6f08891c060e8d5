"""The stop button: nothing starts, nothing waits, nothing runs on, in this process and in every other."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ringfence.errors import Misuse, OperatorRequired, VoteRefused
from ringfence.runtime import Failed
from ringfence.runtime.freezing import Freeze, Scope
from tests.acceptance.spine.held import HeldSandbox
from tests.acceptance.spine.household import Clock, assert_completed, assert_refused, assert_waiting, config, open_house

pytestmark = pytest.mark.req("OPS-8")

PAY = ("pay", {"to": "shop", "amount": 5})
ECHO = ("echo", {"text": "x"})
PEOPLE_AND_AGENTS = ("alice", "carol", "ana", "nobody")


async def test_nothing_starts_while_everything_is_frozen_and_it_does_afterwards(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        await house.runtime.freezes.freeze(by="bob", because="an incident")
        assert_refused(await house.call(*ECHO), "frozen")
        assert_refused(await house.call(*PAY), "frozen")
        assert house.ran == []
        assert await house.runtime.approvals.list() == []
        await house.runtime.freezes.unfreeze(by="bob")
        assert_completed(await house.call(*ECHO))
        frozen, unfrozen = await house.events("frozen", "unfrozen")
        assert (await house.runtime.audit.verify()).ok
    assert (frozen["body"]["by"], frozen["body"]["because"]) == ("bob", "an incident")
    assert unfrozen["body"] == {"scope": {"agent": None, "tool": None}, "by": "bob", "lifted": 1}


async def test_a_refused_call_is_on_record_with_its_code(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        await house.runtime.freezes.freeze(by="bob")
        outcome = assert_refused(await house.call(*ECHO), "frozen")
        recorded = await house.runtime.recorded(outcome.invocation_id)
        (decision,) = [each for each in await house.events("policy_decision") if each["body"]["code"]]
    assert recorded is not None
    assert (recorded.status, recorded.code, decision["body"]["code"]) == ("refused", "frozen", "frozen")


@pytest.mark.parametrize(
    ("scope", "stopped"), [({"agent": "ben"}, ("ben", "echo")), ({"tool": "note"}, ("ana", "note"))]
)
async def test_a_freeze_of_one_agent_or_tool_stops_that_one_alone(
    tmp_path: Path, scope: dict[str, str], stopped: tuple[str, str]
) -> None:
    settings = config(tmp_path)
    settings["agents"]["ben"] = settings["agents"]["ana"]
    async with open_house(settings) as house:
        await house.runtime.freezes.freeze(by="bob", **scope)
        for agent in ("ana", "ben"):
            for tool in ("echo", "note"):
                outcome = await house.call(tool, {"text": "x"}, agent=agent)
                hit = agent == scope.get("agent", agent) and tool == scope.get("tool", tool)
                assert getattr(outcome, "code", None) == ("frozen" if hit else None), (agent, tool)
        assert getattr(await house.call(stopped[1], {"text": "x"}, agent=stopped[0]), "code", None) == "frozen"


async def test_what_waits_and_what_was_approved_is_void_and_stays_void(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = assert_waiting(await session.call(*PAY))
        approved = assert_waiting(await session.call("pay", {"to": "shop", "amount": 6}))
        await house.vote(approved, "alice")
        frozen = await house.runtime.freezes.freeze(by="bob")
        assert set(frozen.void) == {asked.invocation_id, approved.invocation_id}
        with pytest.raises(VoteRefused):
            await house.vote(asked, "alice")
        await house.runtime.freezes.unfreeze(by="bob")
        for each in (asked, approved):
            assert_refused(await session.resume(each.invocation_id), "frozen")
        assert house.ran == []
        resolved = [each["body"] for each in await house.events("approval_resolved")]
    assert [each["by"] for each in resolved if each["status"] == "void"] == ["bob", "bob"]


async def test_a_call_that_has_run_keeps_its_record(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = await session.call(*PAY)
        await house.vote(asked, "alice")
        assert_completed(await session.resume(asked.invocation_id))
        assert (await house.runtime.freezes.freeze(by="bob")).void == ()
        assert_completed(await session.resume(asked.invocation_id))


async def test_running_calls_of_the_scope_are_ended_and_recorded(tmp_path: Path) -> None:
    jail = HeldSandbox()
    async with open_house(config(tmp_path), sandbox=jail) as house:
        doomed = asyncio.create_task(house.call(*ECHO))
        spared = asyncio.create_task(house.call("note", {"text": "x"}))
        await jail.holds(2)
        frozen = await house.runtime.freezes.freeze(by="bob", tool="echo")
        outcome = await doomed
        jail.go.set()
        assert_completed(await spared)
        recorded = await house.runtime.recorded(outcome.invocation_id)
        (failed,) = await house.events("tool_failed")
    assert isinstance(outcome, Failed)
    assert (outcome.code, frozen.ended_here, jail.ended) == ("frozen", 1, ["echo"])
    assert recorded is not None
    assert (recorded.status, recorded.code) == ("failed", "frozen")
    assert failed["body"]["code"] == "frozen"


async def test_a_consequential_call_that_is_ended_while_it_could_reach_something_is_in_doubt(tmp_path: Path) -> None:
    jail = HeldSandbox()
    async with open_house(config(tmp_path), sandbox=jail) as house:
        doomed = asyncio.create_task(house.call("draft", {"title": "x"}))
        await jail.holds(1)
        await house.runtime.freezes.freeze(by="bob")
        outcome = await doomed
        recorded = await house.runtime.recorded(outcome.invocation_id)
    assert recorded is not None
    assert (recorded.status, recorded.code) == ("in_doubt", "frozen")


async def test_a_freeze_given_by_another_process_ends_running_calls_without_being_told(tmp_path: Path) -> None:
    jail = HeldSandbox()
    async with open_house(config(tmp_path), sandbox=jail) as house:
        doomed = asyncio.create_task(house.call(*ECHO))
        await jail.holds(1)
        async with open_house(config(tmp_path)) as other:
            assert (await other.runtime.freezes.freeze(by="bob")).ended_here == 0
        outcome = await asyncio.wait_for(doomed, timeout=10)
    assert getattr(outcome, "code", None) == "frozen"


@pytest.mark.req("DB-2")
async def test_the_database_itself_starts_and_asks_for_nothing_while_frozen(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        with closing(sqlite3.connect(tmp_path / "state/ringfence.db", isolation_level=None)) as connection:
            connection.execute("INSERT INTO freezes (id, by, because, at) VALUES ('f', 'sql', 'x', '2026')")
            assert_refused(await house.call(*ECHO), "frozen")
            assert_refused(await house.call(*PAY), "frozen")
            for change in ("DELETE FROM freezes", "UPDATE freezes SET agent = 'ben'", "UPDATE freezes SET at = '2027'"):
                with pytest.raises(sqlite3.IntegrityError):
                    connection.execute(change)


@pytest.mark.parametrize("person", PEOPLE_AND_AGENTS)
async def test_only_an_operator_freezes_and_unfreezes_and_attempts_are_on_record(tmp_path: Path, person: str) -> None:
    async with open_house(config(tmp_path)) as house:
        with pytest.raises(OperatorRequired):
            await house.runtime.freezes.freeze(by=person)
        assert_completed(await house.call(*ECHO))
        await house.runtime.freezes.freeze(by="bob")
        with pytest.raises(OperatorRequired):
            await house.runtime.freezes.unfreeze(by=person)
        assert_refused(await house.call(*ECHO), "frozen")
        noticed = [each["body"]["detail"] for each in await house.events("security_event")]
    assert noticed == [{"wanted": each, "by": person} for each in ("frozen", "unfrozen")]


async def test_a_name_that_nothing_has_is_not_frozen(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        attempts: tuple[dict[str, Any], ...] = ({"agent": "bne"}, {"tool": "ehco"}, {"agent": "ana", "tool": "echo"})
        for scope in attempts:
            with pytest.raises(Misuse):
                await house.runtime.freezes.freeze(by="bob", **scope)
        assert await house.runtime.freezes.list() == []


async def test_unfreezing_lifts_exactly_what_is_named(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        await house.runtime.freezes.freeze(by="bob")
        await house.runtime.freezes.freeze(by="bob", agent="ana")
        await house.runtime.freezes.unfreeze(by="bob")
        assert_refused(await house.call(*ECHO), "frozen")
        with pytest.raises(Misuse):
            await house.runtime.freezes.unfreeze(by="bob", tool="echo")
        await house.runtime.freezes.unfreeze(by="bob", agent="ana")
        assert_completed(await house.call(*ECHO))


async def test_explain_says_that_a_call_would_be_refused_as_frozen(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        await house.runtime.freezes.freeze(by="bob", tool="echo", because="an incident")
        explained = await house.runtime.explain("ana", *ECHO)
    assert (explained.code, explained.message) == ("frozen", "tool `echo` is frozen: an incident")


async def test_a_caller_who_leaves_is_not_told_that_it_was_a_freeze(tmp_path: Path) -> None:
    jail = HeldSandbox()
    async with open_house(config(tmp_path), sandbox=jail) as house:
        leaving = asyncio.create_task(house.call(*ECHO))
        await jail.holds(1)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        (failed,) = await house.events("tool_failed")
    assert failed["body"]["code"] == "cancelled"


async def test_a_caller_whose_call_a_freeze_ended_goes_on(tmp_path: Path) -> None:
    jail = HeldSandbox()

    async def caller() -> tuple[Any, Any, int]:
        ended, refused = await house.call(*ECHO), await house.call(*ECHO)
        task = asyncio.current_task()
        assert task is not None
        return ended, refused, task.cancelling()

    async with open_house(config(tmp_path), sandbox=jail) as house:
        calling = asyncio.create_task(caller())
        await jail.holds(1)
        await house.runtime.freezes.freeze(by="bob")
        ended, refused, cancelling = await calling
    assert isinstance(ended, Failed)
    assert (ended.code, cancelling) == ("frozen", 0)
    assert_refused(refused, "frozen")


async def test_a_caller_who_leaves_while_a_freeze_ends_its_call_has_left(tmp_path: Path) -> None:
    jail = HeldSandbox()
    async with open_house(config(tmp_path), sandbox=jail) as house:
        leaving = asyncio.create_task(house.call(*ECHO))
        await jail.holds(1)
        freezing = asyncio.create_task(house.runtime.freezes.freeze(by="bob"))
        freezing.add_done_callback(lambda _: leaving.cancel())
        with pytest.raises(asyncio.CancelledError):
            await leaving
        await freezing
        (failed,) = await house.events("tool_failed")
    assert failed["body"]["code"] in ("cancelled", "frozen")


def test_a_freeze_that_was_lifted_before_anybody_looked_still_ends_what_ran_before_it() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    lifted = Freeze(id="f", scope=Scope(), by="bob", because="x", at=at, lifted_at=at + timedelta(seconds=1))
    assert lifted.stops(agent="ana", tool="echo", started_at=at - timedelta(seconds=1))
    assert not lifted.stops(agent="ana", tool="echo", started_at=at + timedelta(seconds=2))


@pytest.mark.req("APR-6")
async def test_silence_is_refusal_without_anybody_asking(tmp_path: Path) -> None:
    clock = Clock()
    async with open_house(config(tmp_path, approvals={"expire": "1h"}), clock=clock) as house:
        session = house.session(id="s1")
        silent = await session.call(*PAY)
        unused = await session.call("pay", {"to": "shop", "amount": 6})
        await house.vote(unused, "alice")
    clock.forward(timedelta(hours=1))
    async with open_house(config(tmp_path, approvals={"expire": "1h"}), clock=clock) as house:  # opening sweeps
        found = [await house.runtime.recorded(each.invocation_id) for each in (silent, unused)]
        assert [(each.status, each.code) for each in found if each] == [
            ("expired", "approval_expired"),
            ("void", "approval_expired"),
        ]
        for each in (silent, unused):
            assert_refused(await house.session(id="s1").resume(each.invocation_id), "approval_expired")
        with pytest.raises(VoteRefused):
            await house.vote(silent, "alice")
        resolved = [each["body"] for each in await house.events("approval_resolved")]
        assert_waiting(await house.session(id="s1").call(*PAY))  # the control: the call can be made anew
    expired = [(each["approval_id"], each["by"]) for each in resolved if each["status"] == "expired"]
    assert sorted(expired) == sorted((assert_waiting(each).approval_id, None) for each in (silent, unused))


@pytest.mark.req("APR-6", "DB-2")
async def test_the_database_starts_nothing_by_an_approval_whose_time_is_over(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        asked = assert_waiting(await house.call(*PAY))
        await house.vote(asked, "alice")
        (approval,) = await house.events("vote_cast")
        digest = approval["body"]["card_digest"]
        with closing(sqlite3.connect(tmp_path / "state/ringfence.db", isolation_level=None)) as connection:
            late = (asked.invocation_id, "votes", asked.approval_id, digest, "2027-01-01T00:00:00.000000+00:00")
            with pytest.raises(sqlite3.IntegrityError, match="approval_expired"):
                connection.execute("INSERT INTO warrants VALUES (?, ?, ?, ?, ?, NULL, '9999')", late)
