"""Step by step a path ends where the kernel's own rule would have it end, with the same error."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringfence.inside.steps import open_by_steps, open_within
from ringfence.kernel.beneath import PLAIN_NAMES, STAY_BENEATH, Resolve, open_at
from tests.unit.inside.conftest import hidden

pytestmark = pytest.mark.req("SBX-4", "SBX-6")

_PARTS = ("a", "b", "file", "stays", "leaves", "absolute", "folder", "loop", "up", "missing", ".", "..", "", "dangling")
_FLAGS = (os.O_RDONLY, os.O_PATH, os.O_PATH | os.O_NOFOLLOW, os.O_RDONLY | os.O_NOFOLLOW, os.O_RDONLY | os.O_DIRECTORY)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("secret")
    place = tmp_path / "root"
    (place / "a" / "b").mkdir(parents=True)
    for folder in (place, place / "a", place / "a" / "b"):
        (folder / "file").write_text("inside")
        (folder / "stays").symlink_to("./file")
        (folder / "folder").symlink_to("b/")
        (folder / "up").symlink_to("..")
        (folder / "leaves").symlink_to("../../../secret")
        (folder / "absolute").symlink_to("/etc/passwd")
        (folder / "loop").symlink_to("loop")
        (folder / "dangling").symlink_to("missing")
    return place


def ended(root: Path, path: str, *, flags: int, resolve: Resolve, opening: object) -> tuple[str, object]:
    """The file that was opened, by its inode, or the error's name."""
    folder = os.open(root, os.O_PATH)
    try:
        if opening is open_at:
            found = open_at(folder, path, flags=flags, resolve=resolve)
        else:
            links = 0 if resolve & Resolve.NO_LINKS else 40
            found = open_by_steps(folder, path, flags=flags, links=links)
    except OSError as failure:
        return "error", errno.errorcode[failure.errno or 0]
    else:
        seen = os.fstat(found)
        os.close(found)
        return "opened", (seen.st_dev, seen.st_ino)
    finally:
        os.close(folder)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    parts=st.lists(st.sampled_from(_PARTS), min_size=1, max_size=6),
    flags=st.sampled_from(_FLAGS),
    resolve=st.sampled_from([STAY_BENEATH, PLAIN_NAMES | Resolve.BENEATH]),
)
def test_a_path_ends_where_the_kernel_would_have_it_end(
    root: Path, parts: list[str], flags: int, resolve: Resolve
) -> None:
    path = "/".join(parts)
    by_steps = ended(root, path, flags=flags, resolve=resolve, opening=open_by_steps)
    assert by_steps == ended(root, path, flags=flags, resolve=resolve, opening=open_at)


def test_no_descriptor_is_left_however_a_walk_ends(root: Path) -> None:
    before = sorted(os.listdir("/proc/self/fd"))
    for path in ("a/b/file", "a/b/../../file", "a/b/leaves", "a/missing/x", "loop", "a/file/x"):
        ended(root, path, flags=os.O_RDONLY, resolve=STAY_BENEATH, opening=open_by_steps)
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_a_folder_that_is_moved_away_while_it_is_left_is_not_climbed_out_of(root: Path) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "file").write_text("secret")
    over = threading.Event()

    def away_and_back() -> None:
        while not over.is_set():
            os.rename(root / "a" / "b", outside / "b")
            os.rename(outside / "b", root / "a" / "b")

    moving = threading.Thread(target=away_and_back)
    moving.start()
    seen: set[str] = set()
    try:
        folder = os.open(root, os.O_PATH)
        for _ in range(300):
            try:
                with os.fdopen(open_by_steps(folder, "a/b/../file", flags=os.O_RDONLY)) as file:
                    seen.add(file.read())
            except FileNotFoundError:
                seen.add("missing")
        os.close(folder)
    finally:
        over.set()
        moving.join()
    assert seen <= {"inside", "missing"}


def test_only_a_hidden_call_is_walked_round(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.open(root, os.O_PATH)
    try:
        with pytest.raises(OSError, match="openat2"):
            open_within(folder, "leaves", flags=os.O_RDONLY, resolve=STAY_BENEATH)
        monkeypatch.setattr("ringfence.inside.steps.open_at", hidden)
        os.close(open_within(folder, "a/stays", flags=os.O_RDONLY, resolve=STAY_BENEATH))
        with pytest.raises(OSError, match="not implemented"):
            open_within(folder, "a/stays", flags=os.O_RDONLY, resolve=Resolve.NO_MAGIC_LINKS)
    finally:
        os.close(folder)
