"""Whoever holds the file can change it; nobody can change it unseen."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence.audit.verify import Report
from ringfence.store import SqliteStore
from ringfence.testing.store_samples import Clock, allowed, call, ended, furnish, noted
from tests.integration.store.raw import Place

pytestmark = pytest.mark.req("AUD-2")

TABLES = ("audit_events", "audit_checkpoints")


async def small_trail(place: Place, *, rounds: int = 2) -> None:
    """Calls of both lanes with a checkpoint after each round, and the store closed."""
    store = place.open()
    await furnish(store)
    for number in range(rounds):
        invocation = call(f"i{number}")
        await store.start(invocation, warrant=allowed(invocation), durability="full", events=[noted("grün")])
        await store.finish(invocation.id, ending=ended(), durability="normal", events=[noted("ok")])
        await store.checkpoint()
    await store.close()


async def verdict(place: Place, **changes: Any) -> Report:
    store = place.open(**changes)
    try:
        return await store.verify()
    finally:
        await store.close()


def alterations(value: Any) -> Iterator[Any]:
    """Every way to change one byte of a text or blob, to empty it, or to move a number; a null gets a value."""
    if value is None:
        yield "x"
    elif isinstance(value, int):
        yield from (value + 1, value + 1000, value ^ 64)
    else:
        raw = value.encode() if isinstance(value, str) else value
        for place in range(len(raw)):
            for bit in (1, 32, 128):
                yield raw[:place] + bytes([raw[place] ^ bit]) + raw[place + 1 :]


def cells(raw: sqlite3.Connection, table: str) -> Iterator[tuple[int, str, Any]]:
    names = [name for _, name, *_ in raw.execute(f"PRAGMA table_info({table})").fetchall()]
    for rowid, *row in raw.execute(f"SELECT rowid, * FROM {table}").fetchall():
        for name, value in zip(names, row, strict=True):
            yield rowid, name, value


def put(raw: sqlite3.Connection, table: str, name: str, rowid: int, value: Any, *, kind: str) -> bool:
    """Write a cell; false where the schema itself refuses the value."""
    shape = "CAST(? AS TEXT)" if kind == "TEXT" and value is not None else "?"
    try:
        raw.execute(f"UPDATE {table} SET {name} = {shape} WHERE rowid = ?", (value, rowid))
    except sqlite3.IntegrityError:
        return False
    return True


@pytest.mark.parametrize("table", TABLES)
async def test_any_changed_byte_of_any_row_shows(place: Place, table: str) -> None:
    """Without the anchor: the chain and the signatures alone must show it."""
    await small_trail(place)
    store = place.open(anchor=None)
    assert (await store.verify()).ok
    tried: dict[str, int] = {}
    with place.unguarded() as raw:
        kinds = {name: kind for _, name, kind, *_ in raw.execute(f"PRAGMA table_info({table})").fetchall()}
        for rowid, name, value in list(cells(raw, table)):
            for altered in (*alterations(value), *(() if value is None else (None,))):
                raw.execute("BEGIN")
                if put(raw, table, name, rowid, altered, kind=kinds[name]):
                    raw.execute("COMMIT")
                    tried[name] = tried.get(name, 0) + 1
                    assert not (await store.verify()).ok, f"{table}.{name} of row {rowid} became {altered!r} unseen"
                    moved: Any = altered if name == next(iter(kinds)) and kinds[name] == "INTEGER" else rowid
                    assert put(raw, table, name, moved, value, kind=kinds[name])
                else:
                    raw.execute("ROLLBACK")
    assert tried.keys() == kinds.keys()
    assert (await store.verify()).ok, "every change was taken back"
    await store.close()


async def test_removing_the_last_ten_events_shows(place: Place) -> None:
    await small_trail(place, rounds=8)
    with place.unguarded() as raw:
        raw.execute("DELETE FROM audit_events WHERE id IN (SELECT id FROM audit_events ORDER BY id DESC LIMIT 10)")
    report = await verdict(place, anchor=None)
    assert any("the trail was cut" in problem for problem in report.problems)


async def test_removing_events_with_their_checkpoints_shows_by_the_anchor(place: Place) -> None:
    await small_trail(place, rounds=8)
    with place.unguarded() as raw:
        raw.execute("DELETE FROM audit_events WHERE id IN (SELECT id FROM audit_events ORDER BY id DESC LIMIT 10)")
        raw.execute("DELETE FROM audit_checkpoints WHERE number > 3")
    assert (await verdict(place, anchor=None)).ok, "nothing inside the store can show this"
    report = await verdict(place)
    assert any("is in the anchor, not in the store" in problem for problem in report.problems)


async def test_an_older_copy_beside_a_kept_anchor_shows(place: Place, tmp_path: Path) -> None:
    await small_trail(place)
    copy = tmp_path / "older.db"
    shutil.copy(place.path, copy)
    store = place.open()
    await store.append([noted("later")])
    await store.checkpoint()
    await store.close()
    shutil.copy(copy, place.path)
    report = await verdict(place)
    assert any("rolled back" in problem for problem in report.problems)


async def test_no_checkpoint_is_signed_over_an_anchor_that_is_ahead(place: Place, tmp_path: Path) -> None:
    await small_trail(place)
    copy = tmp_path / "older.db"
    shutil.copy(place.path, copy)
    for attempt in ("later", "forged"):
        store = place.open()
        await store.append([noted(attempt)])
        if attempt == "later":
            await store.checkpoint()
        else:
            with pytest.raises(Exception, match="holds a checkpoint that the store does not"):
                await store.checkpoint()
            assert not (await store.verify()).ok
        await store.close()
        shutil.copy(copy, place.path)


async def test_events_that_change_places_show(place: Place) -> None:
    await small_trail(place)
    with place.unguarded() as raw:
        (writer,) = raw.execute("SELECT writer FROM audit_events WHERE id = 2").fetchone()
        two = raw.execute("SELECT id FROM audit_events WHERE writer = ? LIMIT 2", (writer,))
        first, second = (id_ for (id_,) in two)
        for was, to in ((first, 9999), (second, first), (9999, second)):
            raw.execute("UPDATE audit_events SET id = ? WHERE id = ?", (to, was))
    report = await verdict(place, anchor=None)
    assert any("stands before the one it follows" in problem for problem in report.problems)


async def test_an_event_that_left_its_place_shows_though_its_chain_is_whole(place: Place) -> None:
    await small_trail(place)
    with place.unguarded() as raw:
        raw.execute("UPDATE audit_events SET id = 9999 WHERE id = (SELECT max(id) FROM audit_events)")
    report = await verdict(place, anchor=None)
    assert any("removed or moved" in problem for problem in report.problems)


async def test_a_body_that_belongs_to_no_event_shows(place: Place) -> None:
    await small_trail(place)
    with place.unguarded() as raw:
        raw.execute("INSERT INTO audit_strays VALUES (9999, '{}')")
    assert not (await verdict(place, anchor=None)).ok


async def test_a_trail_signed_with_another_key_shows(place: Place, clock: Clock) -> None:
    await small_trail(place)
    stranger = Place(folder=place.folder, clock=clock, key=Ed25519PrivateKey.from_private_bytes(b"z" * 32))
    assert not (await verdict(stranger, anchor=None)).ok
    store: SqliteStore = place.open()
    known = (await store.verify()).key
    await store.close()
    store = stranger.open()
    assert any(known in problem for problem in (await store.verify(key=known)).problems)
    await store.close()
