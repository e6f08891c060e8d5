"""Paths stay beneath their root by the kernel's rule, and a path that stays there is never refused."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from ringfence.errors import PathNotReachable
from ringfence.inside.file_client import Files
from ringfence.inside.files import list_beneath, open_beneath, safe_resolve
from ringfence.kernel.beneath import STAY_BENEATH, open_at

pytestmark = [pytest.mark.req("SBX-4"), pytest.mark.usefixtures("way")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a file, links that stay, and links that leave; a secret lies beside it."""
    (tmp_path / "secret").write_text("secret")
    place = tmp_path / "root"
    (place / "a" / "b").mkdir(parents=True)
    (place / "a" / "file").write_text("inside")
    (place / "stays").symlink_to("a/file")
    (place / "turns").symlink_to("a/b/../file")
    (place / "leaves").symlink_to("../secret")
    (place / "absolute").symlink_to(tmp_path / "secret")
    (place / "magic").symlink_to("/proc/self/root/etc/passwd")
    (place / "loop").symlink_to("loop")
    (place / "dangling").symlink_to("a/new")
    (place / "dangles_out").symlink_to("../new")
    return place


STAYING = {
    "a/file": "a/file",
    "a/../a/file": "a/file",
    "./a//file": "a/file",
    "stays": "a/file",
    "turns": "a/file",
    ".": ".",
    "new": "new",
    "new/../a/file": "a/file",
    "a/b/c/d": "a/b/c/d",
    "dangling": "a/new",
    "..name": "..name",
    "a/...": "a/...",
    "%2e%2e/x": "%2e%2e/x",
    "..\\..\\x": "..\\..\\x",
    "a/\u202eb": "a/\u202eb",
}
LEAVING = (
    "..", "../secret", "a/../../secret", "/etc/passwd", "leaves", "absolute", "magic", "loop", "dangles_out",
    "new/../../secret", "new/../leaves", "stays/x", "a/file/..", "", "a\0b", "x" * 5_000, "a/" + "y" * 300, "\ud800",
)  # fmt: skip


@pytest.mark.parametrize("path", STAYING)
def test_a_path_that_stays_beneath_its_root_has_a_name_there(root: Path, path: str) -> None:
    assert safe_resolve(root, path) == root / STAYING[path]


@pytest.mark.parametrize("path", LEAVING, ids=range(len(LEAVING)))
def test_a_path_that_leaves_its_root_is_not_reachable(root: Path, path: str) -> None:
    with pytest.raises(PathNotReachable):
        safe_resolve(root, path)


def test_a_path_with_a_nul_is_never_cut_short(root: Path) -> None:
    folder = os.open(root, os.O_PATH)
    try:
        with pytest.raises(OSError, match="NUL"):
            open_at(folder, "a/file\0/../..", flags=os.O_RDONLY, resolve=STAY_BENEATH)
    finally:
        os.close(folder)


@pytest.mark.parametrize("path", ["../secret", "leaves", "absolute", "magic", "loop", "/etc/passwd", "a/../../secret"])
def test_what_leaves_is_not_opened_either(root: Path, path: str) -> None:
    for mode in ("rb", "wb", "ab", "r+b"):
        with pytest.raises(PathNotReachable):
            open_beneath(root, path, mode)


@pytest.mark.parametrize("path", ["a/file", "stays", "turns", "a/../a/file"])
def test_what_stays_is_opened(root: Path, path: str) -> None:
    with open_beneath(root, path) as file:
        assert file.read() == b"inside"


def test_a_missing_file_is_missing_and_a_new_one_is_its_owners_alone(root: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_beneath(root, "a/new")
    with open_beneath(root, "a/new", "w") as file:
        file.write("é")
    assert (root / "a" / "new").read_bytes() == "é".encode()
    assert (root / "a" / "new").stat().st_mode & 0o777 == 0o600


def test_a_pipe_or_a_socket_is_refused_and_nobody_waits_for_it(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket"))
    for name in ("pipe", "socket"):
        for mode in ("rb", "wb"):
            with pytest.raises(PathNotReachable):
                open_beneath(root, name, mode)


def test_a_folder_is_listed_and_not_opened(root: Path) -> None:
    assert list_beneath(root, "a") == ["b", "file"]
    with pytest.raises(IsADirectoryError):
        open_beneath(root, "a")
    with pytest.raises(PathNotReachable):
        list_beneath(root, "..")


def test_the_client_tells_a_missing_file_from_one_that_was_not_granted(root: Path) -> None:
    files = Files(str(root), granted=[str(root / "a")])
    assert files.read_text("a/file") == "inside"
    with pytest.raises(FileNotFoundError):
        files.read_text("a/new")
    for path in ("other/new", "../secret"):
        with pytest.raises(PathNotReachable):
            files.read_text(path)
    with pytest.raises(PathNotReachable):
        files.list("other")


def test_the_client_lists_what_was_granted_and_nothing_beside_it(root: Path) -> None:
    files = Files(str(root), granted=[str(root / "closed" / "one" / "deep"), str(root / "closed" / "two")])
    assert files.list("closed") == ["one", "two"]
    assert files.list("closed/one") == ["deep"]
    with pytest.raises(PathNotReachable):
        files.list("clos")
    with pytest.raises(FileNotFoundError):
        files.list("closed/two")
