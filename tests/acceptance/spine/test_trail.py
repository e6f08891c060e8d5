"""The trail: every step is an event with the tool's class, and what cannot be recorded does not happen."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ringfence.assembly import storing
from ringfence.audit.events import KINDS
from ringfence.errors import TrailUnavailable
from ringfence.runtime import Failed, Refused
from ringfence.store.sqlite import SqliteStore
from tests.acceptance.spine.household import (
    House,
    assert_completed,
    assert_refused,
    assert_waiting,
    config,
    fault,
    open_house,
    scripted,
)

STEPS = ("start", "refuse", "ask", "finish", "append", "open_session", "latest_like", "recorded", "withdraw")
STATUSES = ("completed", "waiting", "refused", "failed")
ERRORS = [TrailUnavailable("the disk is gone"), OSError("the disk is gone"), KeyError("odd")]


def breaking(house: House, *steps: str, error: Exception, patch: pytest.MonkeyPatch) -> None:
    """From now on these steps of the store fail."""

    async def broken(*_: Any, **__: Any) -> Any:
        raise error

    for step in steps:
        patch.setattr(house.runtime._parts.store, step, broken)  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that waits for another process hardly at all."""

    class Impatient(SqliteStore):
        @classmethod
        def open(cls, *arguments: Any, **named: Any) -> SqliteStore:
            return SqliteStore.open(*arguments, **{**named, "patience": 0.05})

    monkeypatch.setattr(storing, "SqliteStore", Impatient)


def held(tmp_path: Path) -> sqlite3.Connection:
    """Another writer that holds the store and does not let go."""
    connection = sqlite3.connect(tmp_path / "state/ringfence.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return connection


def allow_pages(house: House, most: int) -> None:
    """Let the store's file grow to this many pages and no further, as a full disk would."""
    store = house.runtime._parts.store  # pyright: ignore[reportPrivateUsage]
    assert isinstance(store, SqliteStore)
    for lane in (store.database.loop_lane, store.database.writer_lane):
        lane.connection.set_authorizer(None)
        lane.connection.execute(f"PRAGMA max_page_count = {most}")


@pytest.mark.req("AUD-1")
async def test_every_event_has_its_fields_and_the_class_of_its_tool(tmp_path: Path) -> None:
    jail = scripted({"note": fault("no"), "echo": lambda _: "\u202e"})
    async with open_house(config(tmp_path), sandbox=jail) as house:
        session = house.session()
        await session.call("echo", {"text": "x"})
        await session.call("note", {"text": "x"})
        asked = assert_waiting(await session.call("pay", {"to": "x", "amount": 1}))
        await house.vote(asked, "alice")
        await session.resume(asked.invocation_id)
        await session.call("nope", {})
        events = await house.events()
        report = await house.runtime.audit.verify()
    assert report.ok, report.problems
    for event in events:
        assert set(event["body"]) == KINDS[event["kind"]].fields, event["kind"]
        about_a_known_tool = KINDS[event["kind"]].concerns == "tool" and event["tool"] != "nope"
        assert event["safety"] is not None or not about_a_known_tool, event
    assert {"tool_completed", "tool_failed", "vote_cast", "approval_resolved", "security_event"} <= {
        event["kind"] for event in events
    }


@pytest.mark.req("AUD-1")
async def test_a_refused_call_is_on_record_with_its_code_and_without_its_argument_values(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        outcome = assert_refused(await house.call("pay", {"to": 7, "password": "hunter2"}), "input_invalid")
        proposed, decided = await house.events("tool_proposed", "policy_decision")
        recorded = await house.runtime.recorded(outcome.invocation_id)
    assert decided["body"]["code"] == "input_invalid"
    assert "hunter2" not in str(proposed)
    assert "password" in proposed["body"]["arguments"]
    assert recorded is not None
    assert (recorded.status, recorded.code) == ("refused", "input_invalid")


@pytest.mark.req("AUD-1")
async def test_events_can_be_followed_as_they_are_kept(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        first = asyncio.create_task(_first(house.runtime.events()))
        await asyncio.sleep(0)
        assert_completed(await house.call("echo", {"text": "x"}))
        assert (await first)["kind"] == "config_loaded"


async def _first(events: AsyncIterator[dict[str, Any]]) -> dict[str, Any]:
    async for event in events:
        return event
    raise AssertionError


@pytest.mark.req("AUD-3")
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("tool", ["echo", "note"])
async def test_nothing_runs_while_the_trail_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, tool: str
) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        assert_completed(await session.call("echo", {"text": "before"}))
        with monkeypatch.context() as patch:
            breaking(house, "start", "refuse", "append", error=error, patch=patch)
            assert_refused(await session.call(tool, {"text": "x"}), "trail_unavailable")
        assert house.ran == ["echo"]
        assert_completed(await session.call(tool, {"text": "after"}))


@pytest.mark.req("AUD-3")
@pytest.mark.parametrize("step", ["open_session", "append"])
async def test_a_session_that_cannot_be_recorded_makes_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        with monkeypatch.context() as patch:
            breaking(house, step, error=ERRORS[0], patch=patch)
            assert_refused(await session.call("echo", {"text": "x"}), "trail_unavailable")
        assert house.ran == []
        assert_completed(await session.call("echo", {"text": "x"}))


@pytest.mark.req("AUD-3")
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("answer", ["reply", "fault"])
async def test_output_whose_end_cannot_be_recorded_is_withheld_and_the_call_is_in_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, answer: str
) -> None:
    jail = scripted({"echo": (lambda _: "canary") if answer == "reply" else fault("canary")})
    async with open_house(config(tmp_path), sandbox=jail) as house:
        with monkeypatch.context() as patch:
            breaking(house, "finish", error=error, patch=patch)
            outcome = await house.call("echo", {"text": "x"})
    assert isinstance(outcome, Failed)
    assert outcome.code == "in_doubt"
    assert "canary" not in repr(outcome) + outcome.for_model()


@pytest.mark.req("AUD-3")
async def test_a_store_held_by_another_process_stops_every_call(
    tmp_path: Path, impatient: None, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        assert_completed(await session.call("echo", {"text": "x"}))
        with closing(held(tmp_path)):
            for tool in ("echo", "note", "publish", "nope"):
                assert_refused(await session.call(tool, {"text": "x"}), "trail_unavailable")
        assert house.ran == ["echo"]
        assert_completed(await session.call("note", {"text": "x"}))
        assert (await house.runtime.audit.verify()).ok


@pytest.mark.req("AUD-3")
async def test_a_store_that_is_taken_while_a_tool_runs_withholds_its_output(tmp_path: Path, impatient: None) -> None:
    taken: list[sqlite3.Connection] = []

    def take(said: dict[str, Any]) -> str:
        taken.append(held(tmp_path))
        return "canary"

    async with open_house(config(tmp_path), sandbox=scripted({"echo": take})) as house:
        outcome = await house.call("echo", {"text": "x"})
        taken[0].close()
    assert isinstance(outcome, Failed)
    assert (outcome.code, "canary" in repr(outcome)) == ("in_doubt", False)


@pytest.mark.req("AUD-3")
async def test_a_full_disk_stops_every_call(tmp_path: Path) -> None:
    async with open_house(config(tmp_path)) as house:
        allow_pages(house, 1)
        outcomes = [await house.call("echo", {"text": "x" * 8_000}) for _ in range(30)]
        ran = sum(outcome.status == "completed" for outcome in outcomes)
        assert len(house.ran) <= ran + 1
        allow_pages(house, 2**32 - 2)
    stopped = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    assert {outcome.code for outcome in stopped} == {"trail_unavailable"}


@pytest.mark.req("AUD-3", "APR-3")
async def test_votes_stay_good_while_the_trail_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = assert_waiting(await session.call("pay", {"to": "x", "amount": 1}))
        await house.vote(asked, "alice")
        for step in ("start", "recorded"):
            with monkeypatch.context() as patch:
                breaking(house, step, error=ERRORS[0], patch=patch)
                assert_refused(await session.resume(asked.invocation_id), "trail_unavailable")
        assert_completed(await session.resume(asked.invocation_id))
        assert house.ran == ["pay"]


@pytest.mark.req("AUD-3")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("error", [OSError("x"), ValueError("odd"), MemoryError()], ids=lambda e: type(e).__name__)
async def test_whatever_the_store_raises_no_call_raises_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: Exception
) -> None:
    async with open_house(config(tmp_path)) as house:
        session = house.session()
        asked = await session.call("pay", {"to": "x", "amount": 1})
        await house.vote(asked, "alice")
        with monkeypatch.context() as patch:
            breaking(house, step, error=error, patch=patch)
            for tool in ("echo", "publish", "nope"):
                assert (await house.session().call(tool, {"text": "x"})).status in STATUSES
            assert (await session.resume(asked.invocation_id)).status in STATUSES


def listening(house: House, *steps: str, patch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """How sure each of these steps of the store is asked to be, as they come."""
    store = house.runtime._parts.store  # pyright: ignore[reportPrivateUsage]
    heard: list[tuple[str, str]] = []

    def heard_before(step: str, made: Any) -> Any:
        async def listen(*positional: Any, **named: Any) -> Any:
            heard.append((step, named["durability"]))
            return await made(*positional, **named)

        return listen

    for step in steps:
        patch.setattr(store, step, heard_before(step, getattr(store, step)))
    return heard


@pytest.mark.req("DB-1")
async def test_a_call_that_can_change_something_is_on_disk_before_it_runs_and_its_end_soon_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_house(config(tmp_path)) as house:
        heard = listening(house, "start", "finish", patch=monkeypatch)
        assert_completed(await house.session().call("echo", {"text": "x"}))
        assert_completed(await house.session().call("draft", {"title": "x"}, idempotency_key="k"))
    assert heard == [("start", "normal"), ("finish", "normal"), ("start", "full"), ("finish", "soon")]


@pytest.mark.req("DB-1")
async def test_that_a_call_may_have_changed_something_is_on_disk_before_anybody_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_house(config(tmp_path), sandbox=scripted({"draft": fault("the disk is gone")})) as house:
        heard = listening(house, "finish", patch=monkeypatch)
        outcome = await house.session().call("draft", {"title": "x"}, idempotency_key="k")
    assert isinstance(outcome, Failed)
    assert heard == [("finish", "full")]
