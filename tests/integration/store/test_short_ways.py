"""What every call does on PostgreSQL goes a short way, and is judged there as on the long one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

import psycopg
import pytest

from ringfence.errors import TrailUnavailable
from ringfence.runtime.freezing import Freeze, Scope
from ringfence.runtime.invocation import Status
from ringfence.store.postgres import PostgresStore
from ringfence.store.postgres.database import CONNECTIONS
from ringfence.testing.store_samples import START, Clock, allowed, call, ended, furnish, look, noted, send, status_of
from tests.cluster import Cluster
from tests.integration.store.raw import KEY

pytestmark = pytest.mark.req("DB-1", "DB-2")
EVENT = [["w", 1, "2030", "x", None, None, None, None, "d", "0" * 64, "h", "{}"]]
FACTS: dict[str, Any] = {
    "id": "n", "session": "s", "agent": "ana", "binding": None, "user": "alice", "proposers": '["alice"]',
    "tool": "look", "fingerprint": look.fingerprint, "source_digest": "c", "arguments": "{}", "arguments_digest": "d",
    "idempotency_key": "k", "proposed_at": "2030-01-01",
}  # fmt: skip


@pytest.fixture
async def store(cluster: Cluster, database: str) -> AsyncIterator[PostgresStore]:
    opened = PostgresStore.open(cluster.url(database, user="person"), signing_key=KEY, anchor=None, now=Clock())
    await furnish(opened)
    one = call("r")
    await opened.start(one, warrant=allowed(one), durability="full", events=[noted("r")])
    freeze = Freeze(id="f", scope=Scope(agent="frozen"), by="bob", because="x", at=START)
    await opened.freeze(freeze, tell=lambda _: [])
    yield opened
    await opened.close()


@pytest.fixture
def gateway(cluster: Cluster, database: str, store: PostgresStore) -> Generator[psycopg.Connection[Any], None, None]:
    with psycopg.connect(cluster.url(database, user="gateway"), autocommit=True) as connection:
        connection.execute("SET search_path = ringfence, pg_temp; SET ROLE ringfence_application")
        yield connection


@pytest.fixture
def boss(cluster: Cluster, database: str) -> Generator[psycopg.Connection[Any], None, None]:
    with psycopg.connect(cluster.url(database), autocommit=True) as connection:
        connection.execute("SET search_path = ringfence, pg_temp")
        yield connection


def short(gateway: psycopg.Connection[Any], facts: dict[str, Any], key_until: str | None) -> None:
    words = ["on", 0, *facts.values(), "w", "2030-01-02", key_until, "me", json.dumps(EVENT)]
    marks = ", ".join(["%s"] * len(words))
    assert gateway.execute(f"SELECT start_new_call({marks})".encode(), words).fetchone() == (True,)


def long(gateway: psycopg.Connection[Any], facts: dict[str, Any], key_until: str | None) -> None:
    names = ", ".join(f'"{name}"' for name in facts)
    marks = ", ".join(["%s"] * len(facts))
    propose = f"INSERT INTO invocations ({names}, status) VALUES ({marks}, 'proposed')"
    gateway.execute(propose.encode(), list(facts.values()))
    gateway.execute(
        "INSERT INTO warrants (invocation_id, basis, digest, consumed_at, key_until, worker)"
        " VALUES (%s, 'allowed', 'w', '2030-01-02', %s, 'me')",
        (facts["id"], key_until),
    )


def said(gateway: psycopg.Connection[Any], way: Callable[..., None], facts: dict[str, Any], until: str | None) -> str:
    try:
        with gateway.transaction(force_rollback=True):
            way(gateway, facts, until)
    except psycopg.Error as refused:
        return refused.diag.message_primary or ""
    return "started"


WRITING = '{"name": "note", "safety": "write", "egress": "none", "approval": "auto"}'
NOTE = {"tool": "note", "fingerprint": "f"}
CASES: dict[str, tuple[dict[str, Any], str | None]] = {
    "started": ({}, "2031"),
    "started ": ({}, None),
    "started  ": (NOTE, "2031"),
    "approval_void: the tool needs an approval on record": ({"tool": "send", "fingerprint": send.fingerprint}, "2031"),
    "misuse: a call names a registered contract": ({"fingerprint": "other"}, "2031"),
    "frozen: an operator has frozen calls": ({"agent": "frozen"}, "2031"),
    "tool_not_found: no such tool": ({"tool": "note", "fingerprint": "old"}, "2031"),
    "misuse: a call that changes something reserves its key": (NOTE, None),
    "in_flight: a call with this key was started already": (
        {"idempotency_key": "key-r", "arguments_digest": "sha256:args"},
        "2031",
    ),
    "idempotency_conflict: the key was used with other arguments": ({"idempotency_key": "key-r"}, "2031"),
    "misuse: who proposed a call is a list": ({"proposers": "{}"}, "2031"),
}


@pytest.mark.req("DB-2", "IDM-2", "POL-4")
@pytest.mark.parametrize("words", CASES)
def test_the_short_way_refuses_in_the_words_of_the_long_one(
    gateway: psycopg.Connection[Any], boss: psycopg.Connection[Any], words: str
) -> None:
    for fingerprint in ("f", "old"):
        tool = "INSERT INTO tools VALUES ('note', %s, %s, 'write', 'none', 'auto', 'h', '2029')"
        boss.execute(tool.encode(), (fingerprint, WRITING))
    boss.execute("INSERT INTO pins VALUES ('code', 'note', 'f', 'd', 'pinned', 'bob', '2029')")
    changes, until = CASES[words]
    facts = {**FACTS, **changes}
    assert (said(gateway, short, facts, until), said(gateway, long, facts, until)) == (words.strip(), words.strip())


def test_the_short_way_leaves_the_rows_that_the_long_one_leaves(gateway: psycopg.Connection[Any]) -> None:
    for way, id_ in ((short, "a"), (long, "b")):
        way(gateway, {**FACTS, "id": id_, "idempotency_key": f"k-{id_}"}, "2031")
    for table, column in (("invocations", "id"), ("warrants", "invocation_id"), ("idempotency_keys", "invocation_id")):
        row = f"SELECT to_jsonb(t) - 'number' FROM {table} AS t WHERE {column} = %s".encode()
        first, second = (json.dumps(gateway.execute(row, (id_,)).fetchone()) for id_ in ("a", "b"))
        assert first.replace('"a"', '"b"').replace("k-a", "k-b") == second


@pytest.mark.req("DB-3")
@pytest.mark.parametrize("role", ["ringfence_approver", "ringfence_operator"])
def test_whoever_votes_or_operates_starts_and_ends_no_call(
    cluster: Cluster, database: str, store: PostgresStore, role: str
) -> None:
    with psycopg.connect(cluster.url(database, user="person"), autocommit=True) as person:
        person.execute(f"SET search_path = ringfence, pg_temp; SET ROLE {role}".encode())
        assert "permission denied for function start_new_call" in said(person, short, FACTS, "2031")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            person.execute("SELECT end_call('on', 'r', 'failed', NULL, NULL, NULL, '2030', '[]')")


async def until_somebody_waits(boss: psycopg.Connection[Any]) -> None:
    for _ in range(5_000):
        row = boss.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
        if row and row[0]:
            return
        await asyncio.sleep(0)
    raise AssertionError("nobody waits")


@pytest.mark.req("AUD-1", "SCL-1")
async def test_whoever_is_cancelled_is_told_so_when_its_start_is_on_record(
    store: PostgresStore, boss: psycopg.Connection[Any]
) -> None:
    one = call("slow")
    with boss.transaction():
        boss.execute("SELECT pg_advisory_xact_lock(7240001, 1)")
        start = asyncio.create_task(store.start(one, warrant=allowed(one), durability="full", events=[noted("slow")]))
        await until_somebody_waits(boss)
        start.cancel()
        await asyncio.wait([start], timeout=0.05)
        assert not start.done()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert await status_of(store, "slow") is Status.RUNNING
    await store.finish("slow", ending=ended(), durability="full", events=[noted("ended")])
    assert (await store.verify()).ok


@pytest.mark.req("SCL-1")
async def test_a_store_that_closes_lets_what_was_begun_end(
    cluster: Cluster, database: str, store: PostgresStore, boss: psycopg.Connection[Any]
) -> None:
    other = PostgresStore.open(cluster.url(database, user="person"), signing_key=KEY, anchor=None, now=Clock())
    calls = [call(f"c{number}") for number in range(CONNECTIONS + 2)]
    with boss.transaction():
        boss.execute("SELECT pg_advisory_xact_lock(7240001, 1)")
        starts = [
            asyncio.create_task(other.start(one, warrant=allowed(one), durability="full", events=[noted(one.id)]))
            for one in calls
        ]
        await until_somebody_waits(boss)
        closing = asyncio.create_task(other.close())
        await asyncio.wait([closing], timeout=0.05)
        assert not closing.done()
    await asyncio.gather(closing, *starts)
    with pytest.raises(TrailUnavailable, match="closed"):
        await other.ledger_version()
    assert [await status_of(store, one.id) for one in calls] == [Status.RUNNING] * len(calls)


@pytest.mark.req("SCL-1")
async def test_many_who_ask_at_once_share_a_few_connections(
    store: PostgresStore, boss: psycopg.Connection[Any]
) -> None:
    asking = [asyncio.create_task(store.ledger_version()) for _ in range(10 * CONNECTIONS)]
    asking[CONNECTIONS].cancel()
    answers = await asyncio.gather(*asking, return_exceptions=True)
    assert sum(isinstance(answer, asyncio.CancelledError) for answer in answers) == 1
    assert {answer for answer in answers if isinstance(answer, int)} == {await store.ledger_version()}
    (row,) = boss.execute(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE application_name = 'ringfence' AND datname = current_database() AND query LIKE '%ledger_version%'"
    ).fetchall()
    assert row[0] <= CONNECTIONS


@pytest.mark.req("SCL-1", "AUD-3")
async def test_connections_that_were_all_cut_off_are_made_anew(
    store: PostgresStore, boss: psycopg.Connection[Any]
) -> None:
    theirs = "(usename, datname) = ('person', current_database())"
    cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {theirs}"
    for number in range(3):
        asking = [store.ledger_version() for _ in range(CONNECTIONS)]
        assert len(set(await asyncio.gather(*asking))) == 1
        boss.execute(cut.encode())
        one = call(f"again-{number}")
        await store.start(one, warrant=allowed(one), durability="full", events=[noted("again")])
        boss.execute(cut.encode())
        await asyncio.sleep(0)
        await store.finish(one.id, ending=ended(), durability="full", events=[noted("ended")])
        assert await status_of(store, one.id) is Status.COMPLETED
    assert (await store.verify()).ok


async def test_a_call_that_is_larger_than_a_socket_holds_is_kept(store: PostgresStore) -> None:
    one = call("large", arguments='{"x":"' + "y" * 8_000_000 + '"}')
    await store.start(one, warrant=allowed(one), durability="full", events=[noted("large")])
    recorded = await store.recorded("large")
    assert recorded is not None
    assert len(recorded.invocation.arguments) > 8_000_000


def test_one_store_serves_one_loop_after_another(cluster: Cluster, database: str) -> None:
    store = PostgresStore.open(cluster.url(database, user="person"), signing_key=KEY, anchor=None, now=Clock())
    assert asyncio.run(store.ledger_version()) == asyncio.run(store.ledger_version())
    asyncio.run(store.close())
    with pytest.raises(TrailUnavailable, match="closed"):
        asyncio.run(store.ledger_version())


@pytest.mark.req("AUD-1")
async def test_nobody_rings_where_nobody_listens(store: PostgresStore, gateway: psycopg.Connection[Any]) -> None:
    rung: list[str] = []
    store.database._bell.ring_soon = lambda: rung.append("ring")  # type: ignore[method-assign]  # pyright: ignore[reportPrivateUsage]
    await store.finish("r", ending=ended(), durability="full", events=[noted("end")])
    assert rung == []
    gateway.execute("SELECT pg_advisory_lock_shared(7240001, 4)")
    one = call("heard")
    await store.start(one, warrant=allowed(one), durability="full", events=[noted("heard")])
    assert rung == ["ring"]
