"""The commands of the quickstart, typed one after the other in an empty folder, do what the page says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

from ringfence.cli.group import ringfence
from tests.acceptance.docs.pages import ROOT, blocks, pages

pytestmark = pytest.mark.req("OPS-1", "APR-1", "AUD-2")

PAGE = ROOT / "docs" / "quickstart.md"
LINE = re.compile(r"^\$ (?P<words>.+?)(?:\s+# exit (?P<code>\d).*)?$", re.MULTILINE)


@dataclass
class Terminal:
    """Somebody who types what the page says, and copies ids from one answer into the next command."""

    folder: Path

    def type(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        if words[0] == "cd":
            self.folder /= words[1]
            return subprocess.CompletedProcess(words, 0, "", "")
        command = [sys.executable, "-m", "ringfence.cli", *words[1:]]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)

    def waiting(self) -> dict[str, Any]:
        listed = self.type(["ringfence", "approvals", "list", "--json"])
        (request,) = json.loads(listed.stdout)["approvals"]
        return dict(request)


def commands() -> list[tuple[list[str], int]]:
    shown = PAGE.read_text(encoding="utf-8").split("<!-- commands -->", 1)[1].split("```", 2)[1]
    return [(shlex.split(found["words"], comments=True), int(found["code"] or 0)) for found in LINE.finditer(shown)]


def test_the_commands_of_the_quickstart_do_what_the_page_says(tmp_path: Path) -> None:
    terminal, call, typed = Terminal(folder=tmp_path), "", commands()
    assert len(typed) > 8
    for words, expected in typed:
        if "APPROVAL" in words:
            request = terminal.waiting()
            call = request["invocation_id"]
            words = [request["id"] if word == "APPROVAL" else word for word in words]  # noqa: PLW2901
        done = terminal.type([call if word == "CALL" else word for word in words])
        assert (words, done.returncode) == (words, expected), f"{done.stdout}\n{done.stderr}"


def shown_commands() -> list[tuple[str, list[str]]]:
    """Every `ringfence` line in a console block of any page."""
    lines = [
        (block.page, line.removeprefix("$ "))
        for page in pages()
        for block in blocks(page)
        if block.language == "console"
        for line in block.text.splitlines()
        if line.startswith("$ ringfence ")
    ]
    return [(page, shlex.split(line, comments=True)[1:]) for page, line in lines]


@pytest.mark.parametrize(("page", "words"), shown_commands(), ids=lambda given: str(given)[:60])
def test_a_command_that_a_page_shows_exists_with_its_options(page: str, words: list[str]) -> None:
    command: click.Command = ringfence
    context = click.Context(command)
    while isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        assert found is not None, f"{page}: {words}"
        command, words = found, words[1:]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-") and word != ">"} <= known, page
