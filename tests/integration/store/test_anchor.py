"""The anchor stands outside the store, and its lines are completed after a crash and never rewritten."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ringfence.errors import TrailUnavailable
from ringfence.store import SqliteStore
from ringfence.testing.store_samples import noted
from tests.integration.store.raw import Place

pytestmark = pytest.mark.req("AUD-2")


async def checkpointed(store: SqliteStore, *, times: int) -> None:
    for number in range(times):
        await store.append([noted(f"event {number}")])
        await store.checkpoint()


async def test_each_checkpoint_is_one_line_that_only_its_owner_can_read(store: SqliteStore, place: Place) -> None:
    await checkpointed(store, times=3)
    assert len(place.anchor.read_text().splitlines()) == 3
    assert stat.S_IMODE(place.anchor.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
    report = await store.verify()
    assert (report.ok, report.anchored, report.checkpoints) == (True, 3, 3)


async def test_nothing_new_makes_no_new_checkpoint(store: SqliteStore, place: Place) -> None:
    await checkpointed(store, times=1)
    before = place.anchor.read_bytes()
    await store.checkpoint()
    assert place.anchor.read_bytes() == before


@pytest.mark.parametrize("kept", [0, 1, 10, "one line", "a line and a half"])
async def test_lines_lost_in_a_crash_are_completed(store: SqliteStore, place: Place, kept: int | str) -> None:
    await checkpointed(store, times=3)
    whole = place.anchor.read_bytes()
    line = whole.index(b"\n") + 1
    length = {"one line": line, "a line and a half": line + line // 2}.get(str(kept), kept)
    assert isinstance(length, int)
    place.anchor.write_bytes(whole[:length])
    await store.checkpoint()
    assert place.anchor.read_bytes() == whole
    assert (await store.verify()).ok


async def test_a_torn_end_that_is_no_checkpoint_of_ours_is_not_glossed_over(store: SqliteStore, place: Place) -> None:
    await checkpointed(store, times=1)
    with place.anchor.open("ab") as anchor:
        anchor.write(b"something else")
    await store.append([noted("more")])
    with pytest.raises(TrailUnavailable) as caught:
        await store.checkpoint()
    assert caught.value.code == "audit_broken"
    assert not (await store.verify()).ok


async def test_a_missing_anchor_shows_and_is_not_made_anew(store: SqliteStore, place: Place) -> None:
    await checkpointed(store, times=1)
    place.anchor.unlink()
    report = await store.verify()
    assert any("is missing" in problem for problem in report.problems)
    with pytest.raises(TrailUnavailable, match="cannot be used"):
        await store.checkpoint()
    again = place.open()
    assert not place.anchor.exists()
    await again.close()


@pytest.mark.req("AUD-3")
async def test_an_anchor_that_cannot_be_made_stops_the_store_from_opening(place: Place, tmp_path: Path) -> None:
    with pytest.raises(TrailUnavailable, match="anchor"):
        place.open(anchor=tmp_path / "no such folder" / "anchor.log")


async def test_a_long_anchor_is_read_from_its_end(store: SqliteStore, place: Place) -> None:
    await checkpointed(store, times=2)
    whole = place.anchor.read_bytes()
    first = whole[: whole.index(b"\n") + 1]
    place.anchor.write_bytes(first * 300 + whole)
    await checkpointed(store, times=1)
    assert place.anchor.read_bytes().count(b"\n") == 303


async def test_without_an_anchor_checkpoints_stay_in_the_store(place: Place) -> None:
    store = place.open(anchor=None)
    await checkpointed(store, times=2)
    report = await store.verify()
    assert (report.ok, report.anchored, report.checkpoints) == (True, None, 2)
    await store.close()
