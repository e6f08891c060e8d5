"""The database holds standing grants and freezes to their bounds, whoever asks."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from ringfence.approvals.standing import Bounds, Ended, StandingGrant
from ringfence.approvals.warrant import Warrant
from ringfence.errors import CallRefused, Misuse
from ringfence.runtime.freezing import Freeze, Scope
from ringfence.runtime.invocation import Invocation, Status
from ringfence.store import SqliteStore
from ringfence.testing.store_samples import (
    START,
    Clock,
    allowed,
    ask,
    by_votes,
    call,
    noted,
    queue,
    refusal,
    send,
    status_of,
)
from tests.integration.store.raw import Place, refused

pytestmark = pytest.mark.req("APR-8", "OPS-8", "DB-2")

LATER = START + timedelta(hours=8)


def grant(id_: str = "g", *signed_by: str, **changes: Any) -> StandingGrant:
    bounds: dict[str, Any] = {
        "agent": "ana", "tool": send.name, "fingerprint": send.fingerprint, "source_digest": "sha256:code",
        "when": {"args.x": {"lt": 9}}, "answers": (), "max_uses": 1, "given_at": START, "expires_at": LATER,
        "because": "so", **changes,
    }  # fmt: skip
    return StandingGrant(id=id_, bounds=Bounds(**bounds), safety="network", signed_by=signed_by or ("bob",))


def standing(invocation: Invocation, *grants: str) -> Warrant:
    return Warrant(invocation_id=invocation.id, basis="standing", approval_id=None, digest="d", grants=grants)


async def start(store: SqliteStore, id_: str, *grants: str, **changes: Any) -> None:
    invocation = call(id_, send, **changes)
    await store.start(invocation, warrant=standing(invocation, *grants), durability="full", events=[noted("started")])


async def test_a_grant_reads_back_as_it_was_given(store: SqliteStore) -> None:
    given = grant("g", "bob", "olga")
    await store.give(given, events=[noted("given")])
    assert await store.standing_grant("g") == given
    assert await store.standing_grants() == (given,)
    assert await store.open_grants(agent="ana", tool="send") == (given,)
    assert await store.open_grants(agent="ben", tool="send") == ()
    assert await store.standing_grant("h") is None


async def test_a_use_starts_one_call_and_is_gone(store: SqliteStore) -> None:
    await store.give(grant(), events=[])
    await start(store, "i", "g")
    assert await status_of(store, "i") is Status.RUNNING
    assert await refusal(start(store, "j", "g")) == "approval_void"
    assert await store.recorded("j") is None
    assert await store.open_grants(agent="ana", tool="send") == ()


@pytest.mark.parametrize(
    "other",
    [
        {"agent": "ben"},
        {"source_digest": "sha256:other"},
        {"max_uses": 1, "given_at": START - timedelta(days=2), "expires_at": START},
    ],
    ids=["another agent", "other code", "expired"],
)
async def test_a_grant_for_something_else_starts_nothing(store: SqliteStore, other: dict[str, Any]) -> None:
    await store.give(grant("g", **other), events=[])
    assert await refusal(start(store, "i", "g")) == "approval_void"


async def test_a_grant_that_nobody_gave_or_somebody_revoked_starts_nothing(store: SqliteStore) -> None:
    assert await refusal(start(store, "i", "g")) == "approval_void"
    assert await refusal(start(store, "i")) == "approval_void"
    await store.give(grant(), events=[])
    await store.revoke("g", ended=Ended(at=START, by="bob", why="over"), events=[])
    assert await refusal(start(store, "i", "g")) == "approval_void"
    again = store.revoke("g", ended=Ended(at=START, by="bob", why="over"), events=[])
    assert await refusal(again, Misuse) == "misuse"


async def test_a_grant_by_a_proposer_starts_nothing(store: SqliteStore) -> None:
    await store.give(grant("g", "alice"), events=[])
    assert await refusal(start(store, "i", "g")) == "approval_void"
    await store.sign("g", operator="bob", digest=grant("g", "alice").digest, events=[])
    await start(store, "i", "g")


async def test_a_call_that_asked_for_votes_does_not_run_by_a_grant(store: SqliteStore) -> None:
    await store.give(grant(), events=[])
    await queue(store, call("i", send))
    assert await refusal(start(store, "i", "g")) == "approval_void"


async def test_an_allowed_warrant_does_not_pass_for_an_approval_without_a_use(store: SqliteStore) -> None:
    invocation = call("i", send)
    started = store.start(invocation, warrant=allowed(invocation), durability="full", events=[])
    assert await refusal(started) == "approval_void"


async def test_changed_code_or_contract_ends_a_grant(store: SqliteStore, place: Place) -> None:
    await store.give(grant(), events=[])
    with place.raw() as raw:
        raw.execute("UPDATE pins SET source_digest = 'sha256:new', at = '2030-02' WHERE tool = 'look'")
        assert (await store.standing_grants())[0].ended is None
        raw.execute("UPDATE pins SET source_digest = 'sha256:new', at = '2030-02' WHERE tool = 'send'")
        raw.execute("UPDATE pins SET source_digest = 'sha256:code', at = '2030-03' WHERE tool = 'send'")
        (why,) = raw.execute("SELECT ended_why FROM standing_grants").fetchone()
    assert why == "code_changed"
    assert await store.open_grants(agent="ana", tool="send") == ()
    assert await refusal(start(store, "i", "g")) == "approval_void"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE standing_grants SET max_uses = 99",
        "UPDATE standing_grants SET expires_at = '2099'",
        "UPDATE standing_grants SET agent = 'ben'",
        "UPDATE standing_grants SET conditions = '{}'",
        "UPDATE standing_grants SET answers = '[\"rule\"]'",
        "UPDATE standing_grants SET ended_at = NULL, ended_why = NULL, ended_by = NULL",
        "DELETE FROM standing_grants",
        "INSERT OR REPLACE INTO standing_grants SELECT * FROM standing_grants",
        "UPDATE standing_signatures SET operator = 'eve'",
        "DELETE FROM standing_signatures",
        "INSERT OR REPLACE INTO standing_signatures SELECT * FROM standing_signatures",
        "INSERT INTO standing_signatures VALUES ('g', 'olga', 'sha256:other', '2030')",
        "INSERT INTO standing_signatures VALUES ('none', 'olga', 'd', '2030')",
        "UPDATE standing_uses SET grant_id = 'h'",
        "DELETE FROM standing_uses",
        "INSERT OR REPLACE INTO standing_uses SELECT * FROM standing_uses",
        "INSERT INTO standing_uses VALUES ('g', 'i', '2030')",
        "DELETE FROM freezes",
        "UPDATE freezes SET by = 'eve'",
        "UPDATE freezes SET lifted_at = NULL, lifted_by = NULL",
        "INSERT OR REPLACE INTO freezes SELECT * FROM freezes",
        "INSERT INTO freezes (id, agent, tool, by, because, at) VALUES ('x', 'ana', 'send', 'b', 'b', '2030')",
    ],
)
async def test_what_is_on_record_is_not_edited(store: SqliteStore, place: Place, statement: str) -> None:
    await store.give(grant(), events=[])
    await start(store, "i", "g")
    await store.revoke("g", ended=Ended(at=START, by="bob", why="over"), events=[])
    await store.freeze(Freeze(id="f", scope=Scope(), by="bob", because="x", at=START), tell=lambda _: [])
    await store.unfreeze(Scope(), by="bob", tell=lambda _: [])
    with place.raw() as raw:
        assert refused(raw, statement)


async def test_two_processes_at_once_use_the_last_use_once(store: SqliteStore, place: Place) -> None:
    await store.give(grant(), events=[])
    other = place.open()
    try:
        found = await asyncio.gather(start(store, "i", "g"), start(other, "j", "g"), return_exceptions=True)
    finally:
        await other.close()
    assert [type(each) for each in found].count(CallRefused) == 1
    (used,) = await store.standing_grants()
    assert used.uses == 1


async def test_a_freeze_is_checked_where_a_call_starts_and_where_votes_are_asked(store: SqliteStore) -> None:
    approval = await queue(store, call("i", send))
    waits = await ask(store, call("j", send))
    void = await store.freeze(
        Freeze(id="f", scope=Scope(tool="send"), by="bob", because="x", at=START), tell=lambda _: [noted("frozen")]
    )
    assert {each.id for each in void} == {approval.id, waits.id}
    assert [await status_of(store, each) for each in ("i", "j")] == [Status.VOID, Status.VOID]
    assert await refusal(ask(store, call("k", send))) == "frozen"
    started = store.start(call("i", send), warrant=by_votes(approval), durability="full", events=[])
    assert await refusal(started) == "approval_void"
    await store.start(call("l"), warrant=allowed(call("l")), durability="normal", events=[])
    await store.freeze(Freeze(id="e", scope=Scope(), by="b", because="x", at=START), tell=lambda _: [])
    assert await refusal(store.start(call("m"), warrant=allowed(call("m")), durability="normal", events=[])) == "frozen"
    assert await store.unfreeze(Scope(), by="bob", tell=lambda _: []) == 1
    await store.start(call("m"), warrant=allowed(call("m")), durability="normal", events=[])
    assert [each.id for each in await store.freezes()] == ["f"]


async def test_a_lifted_freeze_is_still_seen_by_whoever_ran_before_it_was(store: SqliteStore, clock: Clock) -> None:
    await store.freeze(Freeze(id="f", scope=Scope(), by="bob", because="x", at=START), tell=lambda _: [])
    clock.at = START + timedelta(seconds=1)
    await store.unfreeze(Scope(), by="bob", tell=lambda _: [])
    assert await store.freezes() == ()
    assert [each.id for each in await store.freezes(since=START)] == ["f"]
    assert await store.freezes(since=clock.at) == ()
