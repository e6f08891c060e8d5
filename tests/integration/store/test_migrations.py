"""A store of any earlier version is brought forward with all that was in it, and everything in it goes on."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from ringfence.agents.rates import Rate
from ringfence.agents.spending import SpendCap
from ringfence.approvals.inbox import ApprovalStatus
from ringfence.policy.quotas import Draw
from ringfence.policy.spending import Spend
from ringfence.runtime.invocation import Status
from ringfence.store.kept import KeptStore
from ringfence.store.postgres import PostgresStore
from ringfence.store.postgres.login import Login
from ringfence.store.postgres.migrate import migrate
from ringfence.store.queries import migrations
from ringfence.testing.store_samples import (
    START,
    Clock,
    allowed,
    ask,
    by_votes,
    call,
    ended,
    furnish,
    look,
    noted,
    queue,
    request,
    send,
    status_of,
    told,
    vote,
)
from tests.cluster import Cluster
from tests.integration.store.old_schemas import old_postgres, old_sqlite, postgres_rows, sqlite_rows
from tests.integration.store.raw import KEY, Place, refused

pytestmark = pytest.mark.req("DB-1")
CAP = SpendCap(tools="*", most=Decimal(10), per="day", amount=("x",))
STANDING = {
    "refused": Status.REFUSED,
    "pending": Status.PENDING,
    "queued": Status.QUEUED,
    "running": Status.RUNNING,
    "completed": Status.COMPLETED,
    "failed": Status.FAILED,
    "in_doubt": Status.IN_DOUBT,
    "rejected": Status.REJECTED,
}


async def fill(store: KeptStore) -> None:
    """A call in every state, with what each of them needs around it."""
    await furnish(store)
    await store.open_session("s-1", agent="ana", binding=None, user="alice")
    await store.enlist(until=START + timedelta(minutes=1))
    await store.refuse(call("refused"), code="policy_denied", events=[noted("refused")])
    await ask(store, call("pending", send), votes_needed=2)
    await store.cast(vote(request(call("pending", send), votes_needed=2), "dan"), tell=told)
    await queue(store, call("queued", send))
    rejected = await ask(store, call("rejected", send))
    await store.cast(vote(rejected, "dan", "reject"), tell=told)
    draw = Draw(agent="ana", binding="", pattern="*", rate=Rate(count=9, seconds=60))
    for name in ("running", "completed", "failed", "in_doubt"):
        one = call(name, look)
        spend = Spend(agent="ana", binding="", cap=CAP, taken=1)
        await store.start(
            one, warrant=allowed(one), durability="full", events=[noted(name)], draws=[draw], spends=[spend]
        )
        if name != "running":
            await store.finish(name, ending=ended(Status(name)), durability="full", events=[noted("end")])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await store.checkpoint()


async def assert_goes_on(store: KeptStore) -> None:
    """Everything stands where it stood, and everything that was open can move."""
    assert {name: await status_of(store, name) for name in STANDING} == STANDING
    assert (await store.verify()).ok
    voted = await store.cast(vote(request(call("pending", send), votes_needed=2), "erin"), tell=told)
    assert voted.status is ApprovalStatus.APPROVED
    for name in ("pending", "queued"):
        needed = 2 if name == "pending" else 1
        warrant = by_votes(request(call(name, send), votes_needed=needed))
        await store.start(call(name, send), warrant=warrant, durability="full", events=[noted("went on")])
    for name in ("running", "pending", "queued"):
        await store.finish(name, ending=ended(), durability="full", events=[noted("ended")])
    await store.settle("in_doubt", ending=ended(Status.FAILED), events=[noted("settled")])
    fresh = call("fresh", look)
    spend = Spend(agent="ana", binding="", cap=CAP, taken=1)
    await store.start(fresh, warrant=allowed(fresh), durability="full", events=[noted("new")], spends=[spend])
    await store.checkpoint()
    assert (await store.verify()).ok
    assert await store.pending_approvals() == ()


@pytest.mark.parametrize("version", range(1, len(migrations("sqlite")) + 1))
async def test_a_file_of_every_version_is_brought_forward_with_its_rows(tmp_path: Path, version: int) -> None:
    for name in ("today", "old"):
        (tmp_path / name).mkdir()
    today = Place(folder=tmp_path / "today")
    store = today.open()
    await fill(store)
    await store.close()
    rows = sqlite_rows(today.path)
    old = Place(folder=tmp_path / "old")
    old_sqlite(old.path, version=version, rows=rows)
    (tmp_path / "old" / "anchor.log").write_bytes(today.anchor.read_bytes())
    store = old.open()
    await assert_goes_on(store)
    await store.close()
    print(f"sqlite from {version}: {sum(len(values) for _, values in rows.values())} rows in {len(rows)} tables")


async def test_a_body_that_had_lost_its_event_still_shows_once_they_are_one_row(tmp_path: Path) -> None:
    for name in ("today", "old"):
        (tmp_path / name).mkdir()
    today, old = Place(folder=tmp_path / "today"), Place(folder=tmp_path / "old")
    store = today.open()
    await fill(store)
    await store.close()
    old_sqlite(old.path, version=7, rows=sqlite_rows(today.path))
    with old.raw() as raw:
        raw.execute("INSERT INTO audit_bodies VALUES (9999, '{}')")
    store = old.open(anchor=None)
    assert (await store.verify()).problems == ("1 bodies or places have no event: events were removed or moved",)
    with old.raw() as raw:
        for statement in ("DELETE FROM audit_strays", "UPDATE audit_strays SET body = ''"):
            assert "only appended to" in refused(raw, statement)
    await store.close()


@pytest.mark.parametrize("version", range(1, len(migrations("postgres")) + 1))
async def test_a_server_of_every_version_is_brought_forward_with_its_rows(cluster: Cluster, version: int) -> None:
    today = cluster.database()
    store = PostgresStore.open(cluster.url(today, user="person"), signing_key=KEY, anchor=None, now=Clock())
    await fill(store)
    await store.close()
    rows = postgres_rows(cluster.url(today))
    name = old_postgres(cluster, version=version, rows=rows)
    assert migrate(Login(url=cluster.url(name, user="mover")), at="2030").version == len(migrations("postgres"))
    store = PostgresStore.open(cluster.url(name, user="person"), signing_key=KEY, anchor=None, now=Clock())
    await assert_goes_on(store)
    await store.close()
    for each in (today, name):
        cluster.drop(each)
    print(f"postgres from {version}: {sum(len(values) for _, values in rows.values())} rows in {len(rows)} tables")
