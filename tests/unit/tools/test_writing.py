"""`write_file` writes where it may, and replaces nothing unless it was told to."""

from __future__ import annotations

import os

import pytest

from ringfence.errors import CallFailed, PathNotReachable
from ringfence.tools import write_file
from tests.unit.tools.bench_of import Bench

pytestmark = pytest.mark.req("OPS-9")


def read(bench: Bench, path: str) -> str:
    return (bench.workspace / path).read_text()


async def test_a_new_file_is_made_and_the_folders_on_the_way(bench: Bench) -> None:
    assert await bench.call(write_file, path="a/b/c.txt", text="héllo") == {"path": "a/b/c.txt", "size": 6}
    assert read(bench, "a/b/c.txt") == "héllo"


async def test_an_existing_file_is_left_alone_unless_told(bench: Bench) -> None:
    bench.put("a.txt", "first")
    with pytest.raises(CallFailed, match="is there already") as caught:
        await bench.call(write_file, path="a.txt", text="second")
    assert (caught.value.code, read(bench, "a.txt")) == ("input_invalid", "first")
    assert "replace" in (caught.value.remedy or "")


async def test_it_is_replaced_or_added_to_where_told(bench: Bench) -> None:
    bench.put("a.txt", "first, and longer")
    await bench.call(write_file, path="a.txt", text="one\n", mode="replace")
    assert await bench.call(write_file, path="a.txt", text="two\n", mode="append") == {"path": "a.txt", "size": 8}
    assert read(bench, "a.txt") == "one\ntwo\n"


async def test_a_folder_is_no_file(bench: Bench) -> None:
    bench.put("file", "")
    (bench.workspace / "folder").mkdir()
    with pytest.raises(CallFailed, match="is a folder") as caught:
        await bench.call(write_file, path="folder", text="x", mode="replace")
    assert caught.value.code == "input_invalid"
    with pytest.raises(PathNotReachable):
        await bench.call(write_file, path="file/below.txt", text="x")


@pytest.mark.req("SBX-4")
@pytest.mark.parametrize(
    "path",
    ["../new.txt", "/tmp/new.txt", "a/../../new.txt", "missing/../../new.txt", "away/new.txt", "away/deep/new.txt"],
)
async def test_nothing_is_written_or_made_outside(bench: Bench, path: str) -> None:
    (bench.workspace / "away").symlink_to("..")
    before = sorted(os.listdir(bench.workspace.parent))
    for mode in ("create", "replace", "append"):
        with pytest.raises(PathNotReachable):
            await bench.call(write_file, path=path, text="x", mode=mode)
    assert (sorted(os.listdir(bench.workspace.parent)), os.listdir(bench.workspace)) == (before, ["away"])
