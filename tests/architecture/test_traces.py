"""The tree is the same wherever it was made: no machine's folders, no package index, no stray lock."""

from __future__ import annotations

import re
import subprocess
import tomllib

import pytest

from tests.architecture.source import ROOT

pytestmark = pytest.mark.req("HOUSE-9")

# Written apart so that this file does not hold what it looks for; `./work/` in a sample config is fine.
MACHINE_FOLDER = re.compile(r"(?<![\w./-])/(?:" + "work" + "|" + "root" + r")/")
INDEX = re.compile(r"https?://|file:|--(?:extra-)?index-url|--find-links|^\s*-[if] ", re.MULTILINE)


def tracked() -> list[str]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def test_no_tracked_file_names_a_machine_folder() -> None:
    assert [name for name in tracked() if MACHINE_FOLDER.search(read(name))] == []


def test_the_lock_names_no_index() -> None:
    locks = sorted(name for name in tracked() if name.startswith("requirements/") and name.endswith(".txt"))
    assert locks == ["requirements/base.txt", "requirements/bench.txt", "requirements/dev.txt"]
    assert [name for name in locks if INDEX.search(read(name))] == []
    assert "uv.lock" not in tracked(), "a uv.lock records the index it was made with"


def test_the_lock_pins_every_declared_requirement_by_hash() -> None:
    declared = tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]
    wanted = {re.split(r"[^\w.-]", line, maxsplit=1)[0].lower() for line in declared}
    for lock in ("requirements/base.txt", "requirements/dev.txt"):
        pinned = {
            match[1] for match in re.finditer(r"^([\w.-]+)==\S+ .*\\\n\s+--hash=sha256:", read(lock), re.MULTILINE)
        }
        assert wanted - pinned == set(), lock
        assert len(pinned) == len(re.findall(r"^[\w.-]+==", read(lock), re.MULTILINE)), lock


@pytest.mark.parametrize("text", ["see " + "/work" + "/x", "'" + "/root" + "/.cache'"])
def test_a_machine_folder_is_seen(text: str) -> None:
    assert MACHINE_FOLDER.search(text)


@pytest.mark.parametrize("text", ["workspace: ./work/ana", "docs/work/x", "the /workspace/ folder"])
def test_an_ordinary_folder_is_not_mistaken_for_a_machine_folder(text: str) -> None:
    assert not MACHINE_FOLDER.search(text)
