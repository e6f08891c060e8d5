"""What is on disk when, and what happens when it cannot be."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ringfence.errors import RingfenceError, TrailUnavailable
from ringfence.runtime.invocation import Status
from ringfence.store import SqliteStore, database
from ringfence.store.lane import Lane, Transaction
from ringfence.testing.store_samples import allowed, ask, call, ended, furnish, noted, send, status_of, whats
from tests.architecture.source import ROOT
from tests.integration.store.processes import racers
from tests.integration.store.raw import Place


@dataclass
class Flushed:
    """What was put on disk, and that something was."""

    inodes: list[int] = field(default_factory=list[int])
    one: threading.Event = field(default_factory=threading.Event)


def pragma(lane: Lane, name: str) -> int | str:
    lane.connection.set_authorizer(None)
    return lane.connection.execute(f"PRAGMA {name}").fetchone()[0]  # type: ignore[no-any-return]


def wal_size(place: Place) -> int:
    return os.path.getsize(f"{place.path}-wal")


async def writers(store: SqliteStore) -> list[str]:
    return [each.writer async for _, each in store.links()]


@pytest.mark.req("DB-1")
async def test_each_lane_is_as_durable_as_its_name(store: SqliteStore) -> None:
    lanes = store.database
    normal, full = 1, 2
    assert pragma(lanes.loop_lane, "synchronous") == normal
    assert pragma(lanes.patient_lane, "synchronous") == normal
    assert pragma(lanes.writer_lane, "synchronous") == full
    assert pragma(lanes.upkeep_lane, "synchronous") == full
    for lane in (lanes.loop_lane, lanes.writer_lane, lanes.patient_lane, lanes.upkeep_lane):
        assert (pragma(lane, "journal_mode"), pragma(lane, "wal_autocheckpoint")) == ("wal", 0)
    waiting = [pragma(lane, "busy_timeout") for lane in (lanes.loop_lane, lanes.writer_lane, lanes.patient_lane)]
    assert waiting == [0, 5000, 5000]


@pytest.mark.req("DB-1", "AUD-1")
async def test_a_full_move_is_made_by_the_writer_and_a_normal_one_in_the_loop(store: SqliteStore) -> None:
    lanes = store.database
    for id_, durability in (("i", "normal"), ("j", "full")):
        invocation = call(id_)
        await store.start(invocation, warrant=allowed(invocation), durability=durability, events=[noted(id_)])  # type: ignore[arg-type]
    assert (await writers(store))[-2:] == [lanes.loop_lane.writer, lanes.writer_lane.writer]


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> Flushed:
    """The inodes that are put on disk by this process itself, as they are."""
    heard = Flushed()
    flush = os.fdatasync

    def tell(descriptor: int) -> None:
        flush(descriptor)
        heard.inodes.append(os.fstat(descriptor).st_ino)
        heard.one.set()

    monkeypatch.setattr(os, "fdatasync", tell)
    return heard


@pytest.mark.req("DB-1")
async def test_a_move_that_is_to_be_on_disk_soon_is_made_in_the_loop_and_flushed_behind_it(
    store: SqliteStore, place: Place, flushed: Flushed
) -> None:
    await store.start(call("i"), warrant=allowed(call("i")), durability="full", events=[noted("on disk")])
    await store.finish("i", ending=ended(), durability="soon", events=[noted("soon")])
    assert (await writers(store))[-1] == store.database.loop_lane.writer
    assert await asyncio.to_thread(flushed.one.wait, 10)
    assert flushed.inodes == [os.stat(f"{place.path}-wal").st_ino]


@pytest.mark.req("DB-1")
async def test_a_full_move_takes_what_was_to_be_on_disk_soon_with_it(store: SqliteStore, flushed: Flushed) -> None:
    for id_ in "ij":
        await store.start(call(id_), warrant=allowed(call(id_)), durability="full", events=[])
    await store.finish("i", ending=ended(), durability="soon", events=[])
    await store.finish("j", ending=ended(), durability="full", events=[])
    await asyncio.sleep(2 * database.FLUSH_AFTER)
    await store.database.upkeep(lambda _: None)
    assert flushed.inodes == []


@pytest.mark.req("DB-1")
async def test_a_log_that_cannot_be_flushed_is_told_and_what_was_made_stays(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried = threading.Event()

    def fail(_descriptor: int) -> None:
        tried.set()
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(os, "fdatasync", fail)
    await store.start(call("i"), warrant=allowed(call("i")), durability="full", events=[])
    await store.finish("i", ending=ended(), durability="soon", events=[])
    assert await asyncio.to_thread(tried.wait, 10)
    await store.start(call("j"), warrant=allowed(call("j")), durability="full", events=[])
    assert "could not be put on disk" in caplog.text
    assert await status_of(store, "i") is Status.COMPLETED


@pytest.mark.req("DB-1", "APR-1")
async def test_a_request_for_votes_is_on_disk_before_the_caller_is_told(store: SqliteStore) -> None:
    await ask(store, call("i", send))
    assert (await writers(store))[-1] == store.database.writer_lane.writer


@pytest.mark.req("DB-1")
async def test_a_normal_move_is_handed_over_while_another_process_holds_the_store(
    store: SqliteStore, place: Place
) -> None:
    with racers(place.folder, count=1) as (other,):
        assert other.ask("lock") == "ok"
        invocation = call("i")
        moving = asyncio.create_task(
            store.start(invocation, warrant=allowed(invocation), durability="normal", events=[noted("patient")])
        )
        await asyncio.sleep(0)
        assert not moving.done()
        assert other.ask("unlock") == "ok"
        await moving
    assert (await writers(store))[-1] == store.database.patient_lane.writer


@pytest.mark.req("AUD-3")
@pytest.mark.parametrize("durability", ["normal", "full"])
async def test_a_store_held_for_too_long_is_unavailable_and_nothing_ran(place: Place, durability: str) -> None:
    store = place.open(patience=0.05)
    await furnish(store)
    with racers(place.folder, count=1) as (other,):
        assert other.ask("lock") == "ok"
        invocation = call("i")
        with pytest.raises(TrailUnavailable, match="held by another process"):
            await store.start(invocation, warrant=allowed(invocation), durability=durability, events=[])  # type: ignore[arg-type]
        assert other.ask("unlock") == "ok"
    assert await store.recorded("i") is None
    await store.close()


@pytest.mark.req("AUD-3")
async def test_a_lane_that_is_in_use_hands_over(store: SqliteStore) -> None:
    lane = store.database.loop_lane
    entered, leave = threading.Event(), threading.Event()

    def wait(_: Transaction) -> None:
        entered.set()
        leave.wait(10)

    def occupy() -> None:
        lane.read(wait)

    other = threading.Thread(target=occupy)
    other.start()
    assert entered.wait(10)
    try:
        await store.append([noted("handed over")])
        assert await store.recorded("i") is None
    finally:
        leave.set()
        other.join()
    assert (await writers(store))[-1] == store.database.patient_lane.writer


@pytest.mark.req("DB-1")
async def test_a_move_that_is_to_be_on_disk_soon_is_so_where_it_was_handed_over(
    store: SqliteStore, place: Place, flushed: Flushed
) -> None:
    await store.start(call("i"), warrant=allowed(call("i")), durability="full", events=[])
    with racers(place.folder, count=1) as (other,):
        assert other.ask("lock") == "ok"
        moving = asyncio.create_task(store.finish("i", ending=ended(), durability="soon", events=[noted("soon")]))
        await asyncio.sleep(0)
        assert other.ask("unlock") == "ok"
        await moving
    assert (await writers(store))[-1] == store.database.patient_lane.writer
    assert await asyncio.to_thread(flushed.one.wait, 10)
    assert flushed.inodes == [os.stat(f"{place.path}-wal").st_ino]


@pytest.mark.req("AUD-3")
async def test_a_store_that_turned_read_only_is_unavailable_and_recovers(store: SqliteStore) -> None:
    lanes = (store.database.loop_lane, store.database.writer_lane)
    for lane in lanes:
        lane.connection.set_authorizer(None)
        lane.connection.execute("PRAGMA query_only = ON")
    for id_, durability in (("i", "normal"), ("j", "full")):
        with pytest.raises(TrailUnavailable, match="readonly"):
            await store.start(call(id_), warrant=allowed(call(id_)), durability=durability, events=[noted("x")])  # type: ignore[arg-type]
    for lane in lanes:
        lane.connection.execute("PRAGMA query_only = OFF")
    await store.start(call("i"), warrant=allowed(call("i")), durability="normal", events=[noted("again")])
    await store.checkpoint()
    assert (await store.verify()).ok


_FILL = """
import asyncio, resource, signal, sys
from pathlib import Path
from ringfence.errors import TrailUnavailable
from ringfence.testing.store_samples import allowed, call, furnish, noted
from tests.integration.store.raw import Place

async def main() -> None:
    store = Place(folder=Path(sys.argv[1])).open()
    await furnish(store)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512 * 1024, soft[1]))
    refused = 0
    for number in range(200):
        durability = ("normal", "full")[number % 2]
        one = call(f"i{number}")
        try:
            await store.start(one, warrant=allowed(one), durability=durability, events=[noted("x" * 4000)])
        except TrailUnavailable:
            refused += 1
    resource.setrlimit(resource.RLIMIT_FSIZE, soft)
    await store.append([noted("room again")])
    await store.checkpoint()
    report = await store.verify()
    with Place(folder=Path(sys.argv[1])).raw() as raw:
        (kept,) = raw.execute("SELECT count(*) FROM invocations").fetchone()
    print(refused > 0, kept == 200 - refused, report.events == kept + 2, report.problems)
    await store.close()

asyncio.run(main())
"""


@pytest.mark.req("AUD-3", "DB-1")
def test_a_full_disk_loses_no_half_of_a_move(tmp_path: Path) -> None:
    assert resource.RLIMIT_FSIZE
    done = subprocess.run(
        [sys.executable, "-c", _FILL, str(tmp_path)],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.strip() == "True True True ()", done.stderr


@pytest.mark.req("AUD-3")
async def test_a_closed_store_is_unavailable(place: Place) -> None:
    store = place.open()
    await store.close()
    with pytest.raises(TrailUnavailable):
        await store.append([noted("x")])
    with pytest.raises(TrailUnavailable):
        await store.checkpoint()
    with pytest.raises(TrailUnavailable):
        await store.recorded("i")


@pytest.mark.req("AUD-3")
async def test_a_place_where_no_store_can_be_is_refused(place: Place, tmp_path: Path) -> None:
    with pytest.raises(TrailUnavailable, match="cannot be opened"):
        Place(folder=tmp_path / "no such folder").open()
    place.path.write_bytes(b"this is no database, and long enough to be sure of it" * 40)
    with pytest.raises(TrailUnavailable):
        place.open()


@pytest.mark.req("AUD-3")
async def test_an_event_that_cannot_be_spelled_takes_its_move_down_with_it(store: SqliteStore) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        await store.start(call("i"), warrant=allowed(call("i")), durability="normal", events=[noted("\ud800")])
    assert await store.recorded("i") is None
    await store.append([noted("next")])
    await store.checkpoint()
    assert (await store.verify()).ok


@pytest.mark.req("DB-1")
async def test_the_write_ahead_log_stays_bounded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "WAL_BYTES", 64 * 1024)
    monkeypatch.setattr(database, "WAL_BYTES_AT_MOST", 256 * 1024)
    monkeypatch.setattr(database, "WAL_LOOK_EVERY", 8)
    store = place.open()
    largest = 0
    for number in range(400):
        await store.append([noted(f"{number}" * 500)])
        largest = max(largest, wal_size(place))
        if number % 8 == 7:
            await store.position()
            await store.database.upkeep(lambda _: None)
    assert largest < 1024 * 1024
    await store.close()


@pytest.mark.req("DB-1")
async def test_the_write_ahead_log_is_written_from_its_start_again_though_writers_never_rest(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAL_BYTES", 64 * 1024)
    monkeypatch.setattr(database, "WAL_LOOK_EVERY", 32)
    store = place.open()

    async def write() -> None:
        for _ in range(32):
            await store.database.write(lambda transaction: transaction.record([noted("x" * 1000)]), durability="full")

    await write()
    first = wal_size(place)
    for _ in range(40):
        await write()
    assert wal_size(place) < 20 * first
    await store.close()


@pytest.mark.req("DB-1", "APR-1")
async def test_what_was_kept_is_there_when_the_store_is_opened_again(place: Place) -> None:
    store = place.open()
    await furnish(store)
    await store.start(call("i"), warrant=allowed(call("i")), durability="full", events=[noted("one")])
    await store.close()
    again = place.open()
    await again.finish("i", ending=ended(), durability="full", events=[noted("two")])
    assert await status_of(again, "i") is Status.COMPLETED
    assert [what for what in await whats(again) if "one" in what or "two" in what]
    await again.checkpoint()
    assert (await again.verify()).ok
    await again.close()


@pytest.mark.req("DB-1")
async def test_a_newer_schema_than_the_code_is_refused(place: Place) -> None:
    await place.open().close()
    with place.raw() as raw:
        raw.execute("INSERT INTO schema_versions VALUES (99, 'future', '2040')")
    with pytest.raises(RingfenceError, match="has schema 99") as caught:
        place.open()
    assert (caught.value.code, "newer" in caught.value.remedy) == ("config_invalid", True)


@pytest.mark.req("DB-1")
async def test_a_database_of_something_else_is_left_alone(place: Place) -> None:
    with place.raw() as raw:
        raw.execute("CREATE TABLE customers (name TEXT)")
    with pytest.raises(RingfenceError, match="of something else") as caught:
        place.open()
    assert caught.value.code == "config_invalid"
    with place.raw() as raw:
        assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("customers",)]


@pytest.mark.req("DB-1")
async def test_a_migration_that_fails_leaves_nothing_behind(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from ringfence.store import migrate
    from ringfence.store.queries import Migration, migrations

    good = migrations("sqlite")
    bad = Migration(version=2, name="bad", script="CREATE TABLE half (a TEXT);\nCREATE TABLE half (a TEXT);\n")
    monkeypatch.setattr(migrate, "migrations", lambda dialect: (*good, bad))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(TrailUnavailable, match="already exists"):
        place.open()
    with place.raw() as raw:
        assert raw.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    monkeypatch.undo()
    await place.open().close()
