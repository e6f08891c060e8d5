"""What a call wrote is what the host sees change, whatever the names, times and shapes that a tool leaves behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ringfence.sandbox import listing
from ringfence.sandbox.listing import Listing, changes, look, shown_path

pytestmark = pytest.mark.req("SBX-8")


def seen(folder: Path) -> Listing:
    return look([("outbox", str(folder))])


def test_new_changed_and_removed_files_are_told_apart(tmp_path: Path) -> None:
    for name in ("kept", "changed", "removed"):
        (tmp_path / name).write_text("1")
    before = seen(tmp_path)
    (tmp_path / "changed").write_text("2")
    (tmp_path / "removed").unlink()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "new").write_text("x")
    assert changes(before, seen(tmp_path), alone=True) == {
        "written": ["outbox/changed", "outbox/deep/new"],
        "removed": ["outbox/removed"],
        "coverage": "whole",
    }


def test_a_time_that_was_set_back_hides_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("1")
    stamp, before = file.stat(), seen(tmp_path)
    file.write_text("2")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert changes(before, seen(tmp_path), alone=True)["written"] == ["outbox/a"]


def older(listing: Listing) -> Listing:
    """The same look, as if everything had stood still for a while before it."""
    return replace(listing, at=listing.at + 1_000_000_000)


@pytest.mark.req("IDM-3")
def test_that_nothing_was_written_is_said_only_where_the_folders_are_the_same_too(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    before = older(seen(tmp_path))
    assert changes(before, seen(tmp_path), alone=True) == {"written": [], "removed": [], "coverage": "whole"}
    (tmp_path / "b").write_text("1")
    (tmp_path / "b").unlink()
    assert changes(before, seen(tmp_path), alone=True)["written"] == ["outbox/"]
    (tmp_path / "new").mkdir()
    assert changes(before, seen(tmp_path), alone=True)["written"] == ["outbox/", "outbox/new/"]


@pytest.mark.req("IDM-3")
def test_a_change_just_before_the_look_leaves_open_what_came_after_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    assert changes(seen(tmp_path), seen(tmp_path), alone=True)["coverage"] == "partial"


@pytest.mark.req("IDM-3")
def test_where_a_file_can_be_written_without_a_trace_nothing_is_sure(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as silent:
        (Path(silent) / "a").write_text("1")
        before = older(seen(Path(silent)))
        assert changes(before, seen(Path(silent)), alone=True)["coverage"] == "partial"
        (Path(silent) / "a").write_text("12")
        assert changes(before, seen(Path(silent)), alone=True)["coverage"] == "whole"
    (tmp_path / "a").write_text("1")
    assert changes(older(seen(tmp_path)), seen(tmp_path), alone=True)["coverage"] == "whole"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "out").symlink_to("/etc")
    assert set(seen(tmp_path / "inner").states) == {"outbox/out"}


def test_a_granted_file_is_looked_at_by_itself(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("x")
    before = look([("note", str(tmp_path / "note"))])
    (tmp_path / "note").write_text("longer")
    assert changes(before, look([("note", str(tmp_path / "note"))]), alone=True)["written"] == ["note"]


def test_too_many_entries_or_another_call_make_it_partial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("x")
    whole = older(seen(tmp_path))
    assert changes(whole, whole, alone=False)["coverage"] == "partial"
    monkeypatch.setattr(listing, "MOST_ENTRIES", 1)
    (tmp_path / "b").write_text("x")
    assert changes(whole, seen(tmp_path), alone=True)["coverage"] == "partial"


def test_a_folder_that_is_gone_makes_it_partial(tmp_path: Path) -> None:
    assert not seen(tmp_path / "gone").whole


def test_a_tree_deeper_than_any_path_is_partial_and_ends(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 20, dir_fd=folder)
        inner = os.open("d" * 20, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    assert not seen(tmp_path).whole


def test_a_hostile_name_is_shown_harmless() -> None:
    assert shown_path("a\nb") == "a\\nb"
    assert shown_path("\x1b[2J") == "\\x1b[2J"
    assert shown_path("\u202egpj") == "\\u202egpj"
    assert shown_path("a\udcff") == "a\\xff"
    assert shown_path("grüße") == "grüße"


def test_no_more_entries_are_read_than_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        (tmp_path / str(number)).touch()
    read: list[str] = []
    scandir = os.scandir

    def noted(entry: os.DirEntry[str]) -> os.DirEntry[str]:
        read.append(entry.name)
        return entry

    @contextmanager
    def counted(folder: int) -> Generator[Iterator[os.DirEntry[str]]]:
        with scandir(folder) as entries:
            yield map(noted, entries)

    monkeypatch.setattr(listing, "MOST_ENTRIES", 5)
    monkeypatch.setattr(os, "scandir", counted)
    found = seen(tmp_path)
    assert (len(found.states), len(read)) == (5, 6)
