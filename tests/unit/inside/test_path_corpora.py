"""Measured on real data, where it is at hand: no path leaves its root, no harmless path is refused.

The data is not part of the project; `RINGFENCE_CORPORA` names its folder. Without it these tests have no rows, and the
guarantees are held by `test_files.py`.
"""

from __future__ import annotations

import base64
import io
import json
import os
import socket
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ringfence.errors import PathNotReachable
from ringfence.inside.files import open_beneath, safe_resolve

pytestmark = [pytest.mark.req("SBX-4"), pytest.mark.usefixtures("way")]

FOLDER = Path(os.environ.get("RINGFENCE_CORPORA", Path(__file__).resolve().parents[4] / "shared" / "corpora"))
_MOST_MEMBERS = 200


def corpus(name: str) -> list[Any]:
    """The corpus as one parameter, so that a run shows at a glance whether it was there."""
    return [pytest.param(FOLDER / name, id=name)] if (FOLDER / name).is_file() else []


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def reached(root: Path, path: str) -> Path | None:
    try:
        return safe_resolve(root, path)
    except PathNotReachable:
        return None


@pytest.mark.parametrize("path", corpus("traversal.jsonl"))
def test_no_traversal_leaves_its_root(path: Path, tmp_path: Path) -> None:
    for row in rows(path):
        for spelled in (row["path"], row["path"].replace("{FILE}", "etc/passwd")):
            found = reached(tmp_path, spelled)
            assert found is None or (found.is_relative_to(tmp_path) and row["expect"] != "reject"), row["id"]
            if found is None:
                with pytest.raises((PathNotReachable, OSError)):
                    open_beneath(tmp_path, spelled)


@pytest.mark.parametrize("path", corpus("paths_benign.jsonl"))
def test_every_harmless_path_can_be_named_written_and_read(path: Path, tmp_path: Path) -> None:
    for row in rows(path):
        place = tmp_path / row["path"]
        assert safe_resolve(tmp_path, row["path"]) == place, row["id"]
        place.parent.mkdir(parents=True, exist_ok=True)
        with open_beneath(tmp_path, row["path"], "wb") as file:
            file.write(b"x")
        with open_beneath(tmp_path, row["path"]) as file:
            assert file.read() == b"x", row["id"]


def plant(root: Path, tree: list[str]) -> None:
    """A tree in either of the corpus's spellings."""
    for line in tree:
        words = line.split(" ")
        if " => " in line:
            name, target = line.split(" => ")
            _parent(root / name).symlink_to(target.replace("$ABS", str(root)))
        elif len(words) == 3 and words[0] == "symlink":
            _parent(root / words[1]).symlink_to(words[2])
        elif len(words) == 2 and words[0] in ("dir", "file", "fifo", "sock"):
            _make(_parent(root / words[1]), words[0])
        elif line.endswith("/"):
            (root / line).mkdir(parents=True, exist_ok=True)
        else:
            _make(_parent(root / line), "file")


def _parent(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _make(path: Path, kind: str) -> None:
    match kind:
        case "dir":
            path.mkdir(parents=True, exist_ok=True)
        case "fifo":
            os.mkfifo(path)
        case "sock":
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(str(path))
        case _:
            path.write_text("x", encoding="utf-8")


def jail_cases(path: Path) -> Iterator[tuple[dict[str, Any], list[str]]]:
    trees = json.loads((FOLDER / "fs_jail_trees.json").read_text(encoding="utf-8"))
    for row in rows(path):
        if "semantics" in row and not row["semantics"].startswith("lexical"):
            yield row, row["tree"] if "tree" in row else trees[row["tree_ref"]]


@pytest.mark.parametrize("path", corpus("fs_jail_cases.jsonl"))
def test_jail_cases_end_inside_or_not_at_all(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (row, tree) in enumerate(jail_cases(path)):
        root = tmp_path / str(number)
        root.mkdir()
        monkeypatch.chdir(root)
        plant(root, [line for line in tree if "$" not in line or "$ABS" in line])
        found = reached(root, row["path"].replace("ROOT", root.name))
        assert found is None or found.is_relative_to(root), row["id"]
        if row["semantics"].startswith("beneath") and row["expect"] == "ok":
            assert found is not None, row["id"]
        if row["semantics"].startswith("beneath") and row["expect"] == "error":
            assert found is None, row["id"]
        if row["semantics"].startswith("in_root") and row["expect"] == "ok" and "abs" not in row["id"]:
            assert found == root / row["target"].lstrip("/"), row["id"]


@pytest.mark.parametrize("path", corpus("archives.jsonl"))
def test_no_member_of_an_archive_is_written_outside(path: Path, tmp_path: Path) -> None:
    for number, row in enumerate(rows(path)):
        around = tmp_path / str(number)
        root = around / "root"
        root.mkdir(parents=True)
        for name, content in members(row):
            try:
                _parent(safe_resolve(root, name))
                with open_beneath(root, name, "wb") as file:
                    file.write(content)
            except (PathNotReachable, OSError):
                continue
        assert os.listdir(around) == ["root"], row["id"]


def members(row: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """The regular members that a reader of archives finds; a broken archive has none."""
    content = io.BytesIO(base64.b64decode(row["bytes_b64"]))
    try:
        if row["archive"] == "zip":
            with zipfile.ZipFile(content) as archive:
                yield from ((each.filename, archive.read(each)) for each in archive.infolist()[:_MOST_MEMBERS])
        else:
            with tarfile.open(fileobj=content) as opened:
                for each in opened.getmembers()[:_MOST_MEMBERS]:
                    file = opened.extractfile(each) if each.isreg() else None
                    yield each.name, file.read(1 << 20) if file else b""
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, KeyError):
        return
