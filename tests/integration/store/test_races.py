"""Processes that race for one thing: exactly one gets it."""

from __future__ import annotations

import pytest

from ringfence.runtime.invocation import Status
from ringfence.store import SqliteStore
from ringfence.store.queries import migrations
from ringfence.testing.store_samples import ask, call, queue, send, status_of, whats
from tests.integration.store.processes import racers
from tests.integration.store.raw import Place

ROUNDS = 50


@pytest.mark.req("APR-3", "DB-1")
async def test_one_of_two_processes_gets_to_use_a_warrant(store: SqliteStore, place: Place) -> None:
    with racers(place.folder, count=2) as both:
        assert [racer.ask("open") for racer in both] == ["ok", "ok"]
        for number in range(ROUNDS):
            await queue(store, call(f"i{number}", send))
            for racer in both:
                racer.tell(f"start i{number}")
            assert sorted(racer.answer() for racer in both) == ["in_flight", "ok"]
            assert await status_of(store, f"i{number}") is Status.RUNNING
    assert sum("started" in what for what in await whats(store)) == ROUNDS
    await store.checkpoint()
    assert (await store.verify()).ok


@pytest.mark.req("APR-3", "DB-1")
async def test_one_of_two_processes_starts_an_allowed_call(store: SqliteStore, place: Place) -> None:
    with racers(place.folder, count=2) as both:
        assert [racer.ask("open") for racer in both] == ["ok", "ok"]
        for number in range(ROUNDS):
            for racer in both:
                racer.tell(f"allow i{number}")
            assert sorted(racer.answer() for racer in both) == ["in_flight", "ok"]
    await store.checkpoint()
    assert (await store.verify()).ok


@pytest.mark.req("APR-4", "DB-1")
async def test_a_person_who_votes_twice_at_once_has_voted_once(store: SqliteStore, place: Place) -> None:
    with racers(place.folder, count=2) as both:
        assert [racer.ask("open") for racer in both] == ["ok", "ok"]
        for number in range(ROUNDS // 5):
            approval = await ask(store, call(f"i{number}", send), votes_needed=2)
            for racer in both:
                racer.tell(f"vote i{number} dan")
            assert sorted(racer.answer() for racer in both) == ["ok", "vote_refused"]
            kept = await store.approval(approval.id)
            assert kept is not None
            assert [each.voter for each in kept.votes] == ["dan"]


@pytest.mark.req("DB-1")
async def test_processes_that_open_a_new_store_at_once_all_succeed(place: Place) -> None:
    with racers(place.folder, count=4) as crowd:
        for racer in crowd:
            racer.tell("open")
        assert [racer.answer() for racer in crowd] == ["ok"] * 4
    with place.raw() as raw:
        applied = raw.execute("SELECT version FROM schema_versions ORDER BY version").fetchall()
    assert applied == [(step.version,) for step in migrations("sqlite")]
