"""Each role of a PostgreSQL store can do its own part, and a runtime refuses to be more than it needs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence.errors import OperatorRequired, RingfenceError, TrailUnavailable, VoteRefused
from ringfence.runtime.freezing import Freeze, Scope
from ringfence.runtime.invocation import MOVES, Status
from ringfence.store.postgres import PostgresStore
from ringfence.store.postgres.login import Login
from ringfence.store.postgres.migrate import migrate, standing
from ringfence.store.queries import migrations, queries
from ringfence.testing.store_samples import (
    START,
    Clock,
    allowed,
    ask,
    call,
    ended,
    furnish,
    noted,
    send,
    status_of,
    told,
    vote,
    whats,
)
from tests.cluster import Cluster
from tests.integration.store.raw import KEY


@pytest.fixture
async def gateway(cluster: Cluster, database: str) -> AsyncIterator[PostgresStore]:
    """A store whose login may act as the application and as nobody else; tools are accepted already."""
    person = PostgresStore.open(cluster.url(database, user="person"), signing_key=KEY, anchor=None, now=Clock())
    await furnish(person)
    await person.close()
    store = PostgresStore.open(cluster.url(database, user="gateway"), signing_key=KEY, anchor=None, now=Clock())
    yield store
    await store.close()


@pytest.mark.req("DB-3", "DB-1")
async def test_the_application_makes_calls_and_gives_no_votes(gateway: PostgresStore) -> None:
    await gateway.start(call("i"), warrant=allowed(call("i")), durability="full", events=[noted("started")])
    await gateway.finish("i", ending=ended(), durability="full", events=[])
    assert await status_of(gateway, "i") is Status.COMPLETED
    approval = await ask(gateway, call("j", send))
    with pytest.raises(VoteRefused, match="cannot vote") as caught:
        await gateway.cast(vote(approval, "dan"), tell=told)
    assert "ringfence_approver" in caught.value.remedy
    assert await status_of(gateway, "j") is Status.PENDING
    await gateway.append([noted("goes on")])
    assert "goes on" in (await whats(gateway))[-1]


@pytest.mark.req("DB-3", "OPS-8")
async def test_the_application_is_no_operator(gateway: PostgresStore) -> None:
    freeze = Freeze(id="f", scope=Scope(), by="bob", because="x", at=START)
    with pytest.raises(OperatorRequired):
        await gateway.freeze(freeze, tell=lambda _: [])
    assert await gateway.freezes() == ()


@pytest.mark.req("DB-3")
async def test_a_voter_votes_and_is_no_operator(cluster: Cluster, database: str, gateway: PostgresStore) -> None:
    approval = await ask(gateway, call("j", send))
    voter = PostgresStore.open(cluster.url(database, user="voter"), signing_key=KEY, anchor=None, now=Clock())
    await voter.cast(vote(approval, "dan"), tell=told)
    assert await status_of(gateway, "j") is Status.QUEUED
    with pytest.raises(OperatorRequired):
        await voter.freeze(Freeze(id="f", scope=Scope(), by="b", because="x", at=START), tell=lambda _: [])
    await voter.close()


@pytest.mark.req("DB-3")
@pytest.mark.parametrize(("user", "why"), [("postgres", "superuser"), ("mover", "owns its tables")])
def test_a_runtime_that_could_pass_by_the_rules_refuses_to_start(
    cluster: Cluster, database: str, user: str, why: str
) -> None:
    with pytest.raises(RingfenceError, match=why) as caught:
        PostgresStore.open(cluster.url(database, user=user), signing_key=KEY, anchor=None, now=Clock())
    assert caught.value.code == "config_invalid"


@pytest.mark.req("DB-3")
def test_a_login_without_any_role_is_told_which_it_needs(cluster: Cluster, database: str) -> None:
    cluster.execute("DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN")
    cluster.execute("GRANT USAGE ON SCHEMA ringfence TO stranger", database=database)
    cluster.execute("GRANT SELECT ON ringfence.schema_versions TO stranger", database=database)
    with pytest.raises(RingfenceError, match="may not act as `ringfence_application`"):
        PostgresStore.open(cluster.url(database, user="stranger"), signing_key=KEY, anchor=None, now=Clock())


@pytest.mark.req("DB-1", "AUD-2")
async def test_a_store_that_another_key_signed_is_not_signed_over(cluster: Cluster, database: str) -> None:
    url = cluster.url(database, user="person")
    first = PostgresStore.open(url, signing_key=KEY, anchor=None, now=Clock())
    await first.append([noted("x")])
    await first.checkpoint()
    await first.close()
    with pytest.raises(RingfenceError, match="another key"):
        PostgresStore.open(url, signing_key=Ed25519PrivateKey.generate(), anchor=None, now=Clock())


@pytest.mark.req("DB-1")
def test_a_schema_is_made_by_its_owner_alone_and_brought_forward_step_by_step(cluster: Cluster) -> None:
    name = cluster.database(template="template0")
    cluster.execute(f"GRANT CREATE ON DATABASE {name} TO ringfence_owner")
    owner, person = (Login(url=cluster.url(name, user=user)) for user in ("mover", "person"))
    assert standing(owner).version == 0
    with pytest.raises(RingfenceError, match="needs") as caught:
        PostgresStore.open(person.url, signing_key=KEY, anchor=None, now=Clock())
    assert "ringfence db migrate" in caught.value.remedy
    with pytest.raises(RingfenceError, match="cannot act as `ringfence_owner`"):
        migrate(person, at="2030")
    assert migrate(owner, at="2030").version == migrate(owner, at="2031").version == len(migrations("postgres"))
    cluster.drop(name)


@pytest.mark.req("DB-1")
@pytest.mark.parametrize("version", range(1, len(migrations("postgres"))))
async def test_a_schema_of_every_earlier_version_is_brought_forward_with_its_rows(
    cluster: Cluster, tmp_path: Path, version: int
) -> None:
    name = cluster.database(template="template0")
    cluster.execute(f"GRANT CREATE ON DATABASE {name} TO ringfence_owner")
    named = queries("postgres")
    with psycopg.connect(cluster.url(name, user="mover"), autocommit=True) as old:
        old.execute("SET ROLE ringfence_owner")
        old.execute(named["create_schema"].encode())
        old.execute(named["create_versions"].encode())
        old.execute("SET search_path = ringfence, pg_temp")
        for step in migrations("postgres")[:version]:
            old.execute(step.script.encode())
            old.execute(f"INSERT INTO schema_versions VALUES ({step.version}, '{step.name}', '2029')".encode())
        document = '{"name": "look", "safety": "read", "egress": "none", "approval": "auto"}'
        old.execute(
            f"INSERT INTO tools VALUES ('look', 'f', '{document}', 'read', 'none', 'auto', 'h', '2029')".encode()
        )
        old.execute("INSERT INTO pins VALUES ('code', 'look', 'f', 'd', 'pinned', 'bob', '2029')")
    migrate(Login(url=cluster.url(name, user="mover")), at="2030")
    store = PostgresStore.open(cluster.url(name, user="person"), signing_key=KEY, anchor=None, now=Clock())
    one = call("i", fingerprint="f")
    await store.start(one, warrant=allowed(one), durability="full", events=[])
    assert await status_of(store, "i") is Status.RUNNING
    await store.close()
    cluster.drop(name)


@pytest.mark.req("DB-1")
def test_a_newer_schema_than_the_code_is_refused(cluster: Cluster, database: str) -> None:
    cluster.execute("INSERT INTO ringfence.schema_versions VALUES (99, 'future', '2040')", database=database)
    for attempt in (
        lambda: PostgresStore.open(cluster.url(database, user="person"), signing_key=KEY, anchor=None, now=Clock()),
        lambda: migrate(Login(url=cluster.url(database, user="mover")), at="2030"),
    ):
        with pytest.raises(RingfenceError, match="has schema 99"):
            attempt()


@pytest.mark.req("AUD-3", "DB-1")
def test_a_server_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(TrailUnavailable, match="cannot be reached"):
        PostgresStore.open(f"postgresql://x@/y?host={tmp_path}", signing_key=KEY, anchor=None, now=Clock())


@pytest.mark.req("AUD-1", "SCL-1")
async def test_a_slow_transaction_keeps_its_place_and_a_reader_waits_for_it(
    cluster: Cluster, database: str, gateway: PostgresStore
) -> None:
    event = "INSERT INTO audit_events (writer, seq, at, kind, body_digest, previous, hash)"
    values = "VALUES ('slow', {0}, '2030', 'x', 'd', '{1}', 'h{0}')"
    with psycopg.connect(cluster.url(database, user="gateway")) as slow:
        slow.execute("SET search_path = ringfence, pg_temp; SET ROLE ringfence_application")
        slow.execute("SELECT pg_current_xact_id()")
        settled = await gateway.position()
        await gateway.append([noted("quick"), noted("quicker")])
        assert await gateway.position() == settled
        slow.execute(f"{event} {values.format(1, '0' * 64)}".encode())
        slow.execute(f"{event} {values.format(2, 'h1')}".encode())
        slow.commit()
    found = [(link.writer, place) async for place, link in gateway.links(after=settled)]
    assert [writer == "slow" for writer, _ in found] == [True, True, False, False]
    assert [place for _, place in found] == sorted({place for _, place in found})


@pytest.mark.req("DB-2")
def test_the_function_lists_the_moves_that_the_code_knows(cluster: Cluster, database: str) -> None:
    import re

    with psycopg.connect(cluster.url(database)) as connection:
        row = connection.execute("SELECT prosrc FROM pg_proc WHERE proname = 'invocations_move'").fetchone()
    assert row is not None
    arms = re.findall(r"WHEN '(\w+)' THEN NEW.status IN \(([^)]*)\)", row[0])
    listed = {(was, to) for was, targets in arms for to in re.findall(r"'(\w+)'", targets)}
    assert listed == {(was.value, to.value) for was, targets in MOVES.items() for to in targets}


@pytest.mark.req("DB-1")
def test_both_dialects_answer_to_the_same_names() -> None:
    theirs, ours = set(queries("postgres")), set(queries("sqlite"))
    own_ways = {"insert_event", "record_events", "start_new_call", "end_call", "hold_listening"}
    schema = {"tables", "schema_exists", "create_schema", "hold_migrations", "level_offset", "standing_of_login"}
    assert theirs ^ ours == own_ways | schema
