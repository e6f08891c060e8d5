"""A source is read as bytes, bounded, without links, and checked against its name when it is used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ringfence.errors import DeclarationRefused
from ringfence.sandbox import snapshot
from ringfence.sandbox.snapshot import Snapshots, read_module

pytestmark = pytest.mark.req("CON-13")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "path" / "acme"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "tools.py").write_text("x = 1")
    (folder / "inner" / "note.txt").write_text("note")
    return folder


def test_a_package_is_read_whole_but_for_compiled_and_hidden_files(package: Path) -> None:
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "tools.pyc").write_bytes(b"x")
    (package / "tools.pyc").write_bytes(b"x")
    (package / ".env").write_text("SECRET=1")
    found = read_module("acme.tools", path=[package.parent])
    assert found.files == {"acme/__init__.py": b"", "acme/tools.py": b"x = 1", "acme/inner/note.txt": b"note"}


def test_a_module_file_comes_alone(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("x = 1")
    (tmp_path / "two.py").write_text("x = 2")
    assert read_module("one", path=[tmp_path]).files == {"one.py": b"x = 1"}


def test_the_first_folder_that_has_the_module_wins(tmp_path: Path, package: Path) -> None:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "other.py").write_text("")
    assert "acme/tools.py" in read_module("acme.tools", path=[tmp_path, package.parent]).files


@pytest.mark.parametrize("name", ["", "a b", "../acme", "acme/tools", "acme..tools", "acme.missing", "missing"])
def test_a_name_that_is_no_module_here_is_refused(package: Path, name: str) -> None:
    with pytest.raises(DeclarationRefused):
        read_module(name, path=[package.parent])


def test_the_toolbox_is_the_installed_one_and_nothing_else_of_ringfence_holds_tools(tmp_path: Path) -> None:
    (tmp_path / "ringfence" / "tools").mkdir(parents=True)
    (tmp_path / "ringfence" / "tools" / "__init__.py").write_text("planted")
    found = read_module("ringfence.tools", path=[tmp_path])
    assert b"planted" not in found.files.values()
    assert {Path(name).parent.as_posix() for name in found.files} == {"ringfence/tools"}
    for module in ("ringfence", "ringfence.errors", "ringfence.inside.files", "ringfence.tools.absent"):
        with pytest.raises(DeclarationRefused, match="holds no tools"):
            read_module(module, path=[tmp_path])


def test_links_are_refused(package: Path) -> None:
    (package / "passwd").symlink_to("/etc/passwd")
    with pytest.raises(DeclarationRefused, match="is a link"):
        read_module("acme.tools", path=[package.parent])


def test_what_is_not_a_regular_file_is_refused_without_waiting(package: Path) -> None:
    os.mkfifo(package / "pipe")
    with pytest.raises(DeclarationRefused, match="not a regular file"):
        read_module("acme.tools", path=[package.parent])


@pytest.mark.parametrize(("bound", "value"), [("_MOST_BYTES", 6), ("_MOST_FILES", 2)])
def test_a_source_is_bounded(package: Path, monkeypatch: pytest.MonkeyPatch, bound: str, value: int) -> None:
    monkeypatch.setattr(snapshot, bound, value)
    with pytest.raises(DeclarationRefused):
        read_module("acme.tools", path=[package.parent])


def test_the_digest_tells_content_names_and_module_apart(package: Path) -> None:
    digests = {read_module(name, path=[package.parent]).digest for name in ("acme.tools", "acme")}
    (package / "tools.py").write_text("x = 2")
    digests.add(read_module("acme.tools", path=[package.parent]).digest)
    (package / "tools.py").rename(package / "tool.py")
    digests.add(read_module("acme.tool", path=[package.parent]).digest)
    assert len(digests) == 4


def test_a_kept_source_is_found_by_its_digest_and_cannot_be_written(tmp_path: Path, package: Path) -> None:
    kept = Snapshots(tmp_path).keep(read_module("acme.tools", path=[package.parent]))
    found = Snapshots(tmp_path).find(kept.digest)
    assert (found.module, found.digest) == ("acme.tools", kept.digest)
    assert (found.folder / "acme" / "tools.py").read_bytes() == b"x = 1"
    modes = {path.stat().st_mode & 0o222 for path in found.folder.rglob("*")}
    assert modes == {0}


def test_keeping_twice_is_keeping_once(tmp_path: Path, package: Path) -> None:
    source = read_module("acme.tools", path=[package.parent])
    snapshots = Snapshots(tmp_path)
    assert snapshots.keep(source) == snapshots.keep(source)
    assert len(list((tmp_path / "sources").iterdir())) == 1


@pytest.mark.parametrize("alter", ["change", "add", "remove"])
def test_an_altered_source_is_not_used(tmp_path: Path, package: Path, alter: str) -> None:
    snapshots = Snapshots(tmp_path)
    kept = snapshots.keep(read_module("acme.tools", path=[package.parent]))
    folder = kept.folder / "acme"
    folder.chmod(0o755)
    if alter == "change":
        (folder / "tools.py").chmod(0o644)
        (folder / "tools.py").write_text("x = 666")
    elif alter == "add":
        (folder / "more.py").write_text("x = 666")
    else:
        (folder / "tools.py").unlink()
    with pytest.raises(DeclarationRefused):
        snapshots.find(kept.digest)


@pytest.mark.parametrize("digest", ["", "sha256:../../etc", "sha256:" + "0" * 64, "x" * 64])
def test_a_digest_that_names_nothing_is_refused(tmp_path: Path, digest: str) -> None:
    with pytest.raises(DeclarationRefused):
        Snapshots(tmp_path).find(digest)
