"""Whoever renames, links or mounts while a path is opened gains nothing: the kernel decides on what it opens.

A few hundred rounds each by default, ten thousand in the long run.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ringfence.contract.capabilities import Files
from ringfence.errors import CallRefused, PathNotReachable
from ringfence.inside.files import open_beneath, safe_resolve
from ringfence.inside.grants import take_as_user
from ringfence.inside.layout import identity_of
from ringfence.kernel.beneath import STAY_BENEATH, open_at
from ringfence.sandbox.floor import Floor
from ringfence.sandbox.granting import resolve_files
from tests.unit.inside.conftest import hidden

pytestmark = pytest.mark.req("SBX-4")

_RENAMEAT2, _AT_FDCWD, _EXCHANGE = 316, -100, 2
ROUNDS = [pytest.param(300, id="300"), pytest.param(10_000, id="10000", marks=pytest.mark.long)]
_libc = ctypes.CDLL(None, use_errno=True)


def exchange(one: Path, other: Path) -> None:
    """Two names change places at once."""
    paths = (os.fsencode(one), os.fsencode(other))
    assert _libc.syscall(_RENAMEAT2, _AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _EXCHANGE) == 0


@contextmanager
def meanwhile(act: Callable[[], object]) -> Generator[list[int]]:
    """Something happens over and over in another thread; gives how often, in the end."""
    over = threading.Event()
    count = [0]

    def again() -> None:
        while not over.is_set():
            act()
            count[0] += 1

    acting = threading.Thread(target=again)
    acting.start()
    try:
        yield count
    finally:
        over.set()
        acting.join()


def careless(root: Path, path: str) -> str:
    """What a check before the open comes to: the path is looked at, then opened."""
    if not (root / path).resolve().is_relative_to(root):
        raise PathNotReachable("it leads out")
    return (root / path).read_text()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """`a/note` is inside; `link` leads to a folder outside that has a secret under the same name."""
    outside = tmp_path / "outside"
    place = tmp_path / "root"
    for folder, text in ((outside, "secret"), (place / "a", "inside"), (place / "b" / "c", "deep")):
        folder.mkdir(parents=True)
        (folder / "note").write_text(text)
    (place / "link").symlink_to(outside)
    return place


def read(root: Path, path: str) -> str:
    with open_beneath(root, path, "r") as file:
        text: str = file.read()
    return text


def outcomes(rounds: int, act: Callable[[], str]) -> set[str]:
    seen: set[str] = set()
    for _ in range(rounds):
        try:
            seen.add(act())
        except (PathNotReachable, OSError, CallRefused) as refused:
            seen.add(type(refused).__name__)
    return seen


@pytest.fixture(params=["kernel", "steps"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """By the kernel's own rule, as on the host, or step by step, as where a filter hides that call."""
    if request.param == "steps":
        monkeypatch.setattr("ringfence.inside.steps.open_at", hidden)
    chosen: str = request.param
    return chosen


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_folder_that_becomes_a_link_never_leads_out(root: Path, rounds: int, way: str) -> None:
    # Step by step, a name that was a folder a moment ago may be a link by now, which is not followed.
    met = {"NotADirectoryError"} if way == "steps" else set[str]()
    with meanwhile(lambda: exchange(root / "a", root / "link")) as swapped:
        assert outcomes(rounds, lambda: read(root, "a/note")) <= {"inside", "PathNotReachable", *met}
        named = outcomes(rounds, lambda: str(safe_resolve(root, "a/note").is_relative_to(root)))
    assert named <= {"True", "PathNotReachable"}
    assert swapped[0] > 0


def test_a_check_before_the_open_loses_that_race(root: Path) -> None:
    with meanwhile(lambda: exchange(root / "a", root / "link")):
        seen: set[str] = set()
        for _ in range(1_000):
            seen |= outcomes(100, lambda: careless(root, "a/note"))
            if "secret" in seen:
                break
    assert "secret" in seen


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_folder_that_is_moved_away_while_it_is_climbed_never_leads_out(root: Path, rounds: int) -> None:
    def away_and_back() -> None:
        os.rename(root / "b" / "c", root.parent / "outside" / "c")
        os.rename(root.parent / "outside" / "c", root / "b" / "c")

    with meanwhile(away_and_back) as moved:
        seen = outcomes(rounds, lambda: read(root, "b/c/../note"))
        seen |= outcomes(rounds, lambda: read(root, "b/c/../../a/note"))
    assert seen <= {"inside", "PathNotReachable", "FileNotFoundError"}
    assert moved[0] > 0


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_grant_is_the_folder_inside_whatever_its_name_leads_to(root: Path, rounds: int) -> None:
    inside = identity_of(os.stat(root / "a"))
    floor = Floor(homes={})

    def resolve() -> str:
        granted = resolve_files(Files(read=["a"]), workspace=str(root), floor=floor)
        return "the folder" if [each.identity for each in granted] == [inside] else str(granted)

    with meanwhile(lambda: exchange(root / "a", root / "link")):
        assert outcomes(rounds, resolve) <= {"the folder", "CallRefused"}


def test_a_grant_whose_name_leads_to_another_folder_by_now_is_not_mounted(root: Path) -> None:
    (granted,) = resolve_files(Files(read=["a"]), workspace=str(root), floor=Floor(homes={}))
    exchange(root / "a", root / "b")
    with pytest.raises(OSError, match="no longer the file that was granted"):
        take_as_user([granted])
    (root / "a").rename(root / "gone")
    (root / "a").symlink_to(root.parent / "outside")
    with pytest.raises(OSError, match="openat2"):
        take_as_user([replace(granted, identity=identity_of(os.stat(root.parent / "outside")))])


def test_without_the_rule_the_same_open_leads_out(root: Path) -> None:
    folder = os.open(root, os.O_PATH)
    try:
        with os.fdopen(os.open("link/note", os.O_RDONLY, dir_fd=folder)) as file:
            assert file.read() == "secret"
        with pytest.raises(OSError, match="openat2"):
            open_at(folder, "link/note", flags=os.O_RDONLY, resolve=STAY_BENEATH)
    finally:
        os.close(folder)


@pytest.mark.parametrize("rounds", [pytest.param(20, id="20"), pytest.param(500, id="500", marks=pytest.mark.long)])
def test_a_mount_that_appears_in_a_granted_folder_does_not_appear_in_the_jail(rounds: int, tmp_path: Path) -> None:
    assert os.geteuid() == 0, "only root can mount, so the tests must run as root"
    script = Path(__file__).parent / "mount_races.py"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), str(rounds)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    assert done.stdout.split() == ["jail:", "absent", "host:", "secret"]
