"""`search_files` finds lines, in linear time, and stops by itself."""

from __future__ import annotations

import time
from typing import Any

import pytest

from ringfence.errors import CallFailed, PathNotReachable
from ringfence.tools import search_files, searching
from tests.unit.tools.bench_of import Bench

pytestmark = pytest.mark.req("OPS-9")

# Each takes a backtracking matcher longer than anybody would wait.
CATASTROPHIC = [r"(a+)+$", r"(a|a)*b", r"(.*a){25}", r"(a|aa)+$", r"^(([a-z])+.)+[A-Z]([a-z])+$"]


def places(found: dict[str, Any]) -> list[tuple[str, int]]:
    return [(match["path"], match["line"]) for match in found["matches"]]


@pytest.fixture
def library(bench: Bench) -> Bench:
    bench.put("notes/one.md", "nothing\na Refund\n")
    bench.put("notes/deep/two.md", "refund 42\nrefund\n")
    bench.put("code/three.py", "refund = 1\n")
    return bench


async def test_a_text_is_found_with_its_place(library: Bench) -> None:
    found = await library.call(search_files, pattern="refund")
    assert places(found) == [("code/three.py", 1), ("notes/deep/two.md", 1), ("notes/deep/two.md", 2)]
    assert found["matches"][0] == {"path": "code/three.py", "line": 1, "text": "refund = 1"}
    assert (found["searched"], found["skipped"], found["more"]) == (3, 0, False)


async def test_a_text_is_taken_as_it_is(library: Bench) -> None:
    library.put("notes/odd.md", "a.b(c\n")
    assert places(await library.call(search_files, pattern="a.b(c")) == [("notes/odd.md", 1)]
    assert places(await library.call(search_files, pattern="a.*c")) == []


async def test_case_and_expressions_and_globs_and_folders(library: Bench) -> None:
    assert len((await library.call(search_files, pattern="REFUND", case="ignored"))["matches"]) == 4
    by_expression = await library.call(search_files, pattern=r"refund \d+", kind="expression")
    assert places(by_expression) == [("notes/deep/two.md", 1)]
    folded = await library.call(search_files, pattern="^A REF", kind="expression", case="ignored")
    assert places(folded) == [("notes/one.md", 2)]
    assert places(await library.call(search_files, pattern="refund", files="*.py")) == [("code/three.py", 1)]
    assert len((await library.call(search_files, pattern="refund", files="notes/*"))["matches"]) == 2
    assert len((await library.call(search_files, pattern="refund", folder="notes/deep"))["matches"]) == 2
    assert len((await library.call(search_files, pattern="refund", folder="code/../notes"))["matches"]) == 2


async def test_files_are_found_by_their_names_and_none_is_opened(library: Bench) -> None:
    library.put("notes/image.png", b"\0")
    everything = await library.call(search_files, pattern="*", kind="name")
    assert [match["path"] for match in everything["matches"]] == [
        "code/three.py", "notes/image.png", "notes/one.md", "notes/deep/two.md",
    ]  # fmt: skip
    assert (everything["searched"], everything["matches"][0]["line"], everything["more"]) == (0, 0, False)
    found = await library.call(search_files, pattern="*.md", kind="name", folder="notes", most=1)
    assert ([match["path"] for match in found["matches"]], found["more"]) == (["notes/one.md"], True)
    assert places(await library.call(search_files, pattern="two*", kind="name", files="*.md")) == [
        ("notes/deep/two.md", 0)
    ]


async def test_it_stops_at_the_most_and_says_so(library: Bench) -> None:
    found = await library.call(search_files, pattern="refund", most=2)
    assert (len(found["matches"]), found["more"]) == (2, True)
    assert (await library.call(search_files, pattern="refund", most=3))["more"] is False


async def test_it_stops_when_its_time_is_over(library: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "_SECONDS", -1.0)
    found = await library.call(search_files, pattern="refund")
    assert (found["matches"], found["more"]) == ([], True)


async def test_files_that_are_not_text_or_too_large_are_passed_over(
    library: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "_MOST_FILE_BYTES", 1_000)
    library.put("image.png", b"\0refund")
    library.put("large.txt", "refund\n" * 1_000)
    found = await library.call(search_files, pattern="refund")
    assert (len(found["matches"]), found["searched"], found["skipped"]) == (3, 3, 2)


async def test_a_long_line_is_shown_round_its_match(library: Bench) -> None:
    library.put("wide.txt", "x" * 5_000 + "refund" + "y" * 90_000 + "\n")
    (match,) = (await library.call(search_files, pattern="refund", files="wide.txt"))["matches"]
    assert "refund" in match["text"]
    assert len(match["text"]) <= 300


async def test_links_are_not_followed(library: Bench) -> None:
    (library.workspace / "loop").symlink_to(".")
    (library.workspace / "away").symlink_to("..")
    (library.workspace / "file").symlink_to("../outside.txt")
    assert (await library.call(search_files, pattern="secret"))["matches"] == []
    assert len((await library.call(search_files, pattern="refund"))["matches"]) == 3


@pytest.mark.parametrize("pattern", CATASTROPHIC)
async def test_no_expression_takes_forever(bench: Bench, pattern: str) -> None:
    bench.put("bait.txt", "a" * 50_000 + "!\n")
    started = time.process_time()
    await bench.call(search_files, pattern=pattern, kind="expression")
    assert time.process_time() - started < 2


@pytest.mark.parametrize("pattern", ["(a", "a{1000}{1000}{1000}", "(?=a)b", r"(a)\1", "["])
async def test_what_is_no_expression_is_said_with_a_remedy(bench: Bench, pattern: str) -> None:
    with pytest.raises(CallFailed, match="`pattern`: it is no expression") as caught:
        await bench.call(search_files, pattern=pattern, kind="expression")
    assert (caught.value.code, "`text`" in (caught.value.remedy or "")) == ("input_invalid", True)


@pytest.mark.req("SBX-4")
@pytest.mark.parametrize("folder", ["..", "/", "/etc", "notes/../..", "away"])
async def test_a_folder_outside_is_not_reachable(library: Bench, folder: str) -> None:
    (library.workspace / "away").symlink_to("..")
    with pytest.raises(PathNotReachable):
        await library.call(search_files, pattern="secret", folder=folder)


async def test_a_folder_that_is_not_there_is_named(library: Bench) -> None:
    for folder in ("none", "notes/one.md"):
        with pytest.raises(CallFailed, match="there is no folder"):
            await library.call(search_files, pattern="x", folder=folder)
