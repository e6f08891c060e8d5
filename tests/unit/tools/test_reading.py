"""`read_file` gives lines, never more than it may, and says where it stopped."""

from __future__ import annotations

import pytest

from ringfence.errors import CallFailed, PathNotReachable
from ringfence.tools import read_file
from ringfence.tools.reading import MOST_CHARACTERS
from tests.unit.tools.bench_of import Bench

pytestmark = pytest.mark.req("OPS-9")


async def test_a_file_is_read_from_its_first_line(bench: Bench) -> None:
    bench.put("a.txt", "one\ntwo\nthree")
    assert await bench.call(read_file, path="a.txt") == {
        "path": "a.txt", "text": "one\ntwo\nthree", "first_line": 1, "last_line": 3, "more": False,
    }  # fmt: skip


async def test_a_part_of_it_is_read_and_more_is_said_to_be_there(bench: Bench) -> None:
    bench.put("a.txt", "".join(f"{number}\n" for number in range(1, 11)))
    found = await bench.call(read_file, path="a.txt", first_line=4, lines=3)
    assert (found["text"], found["first_line"], found["last_line"], found["more"]) == ("4\n5\n6\n", 4, 6, True)
    rest = await bench.call(read_file, path="a.txt", first_line=7)
    assert (rest["text"], rest["last_line"], rest["more"]) == ("7\n8\n9\n10\n", 10, False)


async def test_an_empty_file_has_no_lines(bench: Bench) -> None:
    bench.put("a.txt", "")
    assert (await bench.call(read_file, path="a.txt"))["last_line"] == 0


async def test_a_line_beyond_the_end_is_named(bench: Bench) -> None:
    bench.put("a.txt", "one\ntwo\n")
    with pytest.raises(CallFailed, match="`first_line`: the file has 2 lines"):
        await bench.call(read_file, path="a.txt", first_line=9)


async def test_a_long_text_comes_in_parts_that_lose_no_line(bench: Bench) -> None:
    lines = [f"{number} " + "x" * 990 + "\n" for number in range(500)]
    bench.put("long.txt", "".join(lines))
    told, first = "", 1
    for _ in range(10):
        part = await bench.call(read_file, path="long.txt", first_line=first, lines=5_000)
        assert len(part["text"]) <= MOST_CHARACTERS
        told, first = told + part["text"], part["last_line"] + 1
        if not part["more"]:
            break
    assert told == "".join(lines)


async def test_a_line_that_never_fits_is_cut_and_the_next_one_can_be_had(bench: Bench) -> None:
    bench.put("wide.txt", "x" * 3_000_000 + "\nafter\n")
    wide = await bench.call(read_file, path="wide.txt")
    assert (len(wide["text"]), wide["last_line"], wide["more"]) == (MOST_CHARACTERS, 1, True)
    assert (await bench.call(read_file, path="wide.txt", first_line=2))["text"] == "after\n"


async def test_a_file_that_is_not_text_is_refused(bench: Bench) -> None:
    bench.put("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    with pytest.raises(CallFailed, match="is not text") as caught:
        await bench.call(read_file, path="image.png")
    assert caught.value.code == "input_invalid"


async def test_bytes_that_are_not_utf_8_are_shown_as_such(bench: Bench) -> None:
    bench.put("latin.txt", b"caf\xe9\n")
    assert (await bench.call(read_file, path="latin.txt"))["text"] == "caf\ufffd\n"
    bench.put("marked.txt", b"\xef\xbb\xbfhello\n")
    assert (await bench.call(read_file, path="marked.txt"))["text"] == "hello\n"


async def test_what_is_no_file_is_said_with_a_remedy(bench: Bench) -> None:
    (bench.workspace / "folder").mkdir()
    for path, words in (("none.txt", "there is no file"), ("folder", "is a folder")):
        with pytest.raises(CallFailed, match=words) as caught:
            await bench.call(read_file, path=path)
        assert caught.value.code == "input_invalid"


@pytest.mark.req("SBX-4")
@pytest.mark.parametrize(
    "path", ["../outside.txt", "/etc/passwd", "a/../../outside.txt", "link", "folder/../../outside.txt"]
)
async def test_a_path_that_leaves_the_workspace_is_not_reachable(bench: Bench, path: str) -> None:
    (bench.workspace / "a").mkdir()
    (bench.workspace / "folder").mkdir()
    (bench.workspace / "link").symlink_to("../outside.txt")
    with pytest.raises(PathNotReachable):
        await bench.call(read_file, path=path)
