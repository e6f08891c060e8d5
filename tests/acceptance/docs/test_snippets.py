"""What the pages show is a file that runs, and what they say it prints is what it prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.docs.pages import ROOT, SNIPPETS, blocks, marked, pages

pytestmark = pytest.mark.req("CON-1", "OPS-6")

FILES = sorted(path.relative_to(ROOT).as_posix() for path in SNIPPETS.glob("*.py"))


def run(file: str, *, folder: Path) -> str:
    """What a snippet prints when it is run in an empty folder; a warning is an error there too."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / file)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("file", FILES)
def test_a_snippet_prints_what_its_page_says(file: str, tmp_path: Path) -> None:
    said = {block.text for block in marked("output") if block.file == file}
    assert said == {trimmed(run(file, folder=tmp_path))}


def trimmed(printed: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


@pytest.mark.parametrize("file", FILES)
def test_a_page_shows_the_very_text_of_a_snippet(file: str) -> None:
    shown = {block.text for block in marked("snippet") if block.file == file}
    assert shown == {(ROOT / file).read_text(encoding="utf-8")}


def test_no_page_shows_python_that_is_not_run() -> None:
    loose = [
        f"{block.page}: {block.text.splitlines()[0]}"
        for page in pages()
        for block in blocks(page)
        if block.language == "python" and block.mark != "snippet" and block.page != "CONTRIBUTING.md"
    ]
    assert loose == []


def test_no_mark_names_a_file_that_is_not_there() -> None:
    named = {block.file for mark in ("snippet", "output") for block in marked(mark)}
    assert named == set(FILES)
