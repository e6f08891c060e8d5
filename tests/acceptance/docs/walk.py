"""Follows a page from its first line to its last: applies each change it shows, types each command, reads each answer.

Takes: a page whose blocks are marked `<!-- change: FILE -->` (a diff) or `<!-- typed: CODE -->` (a console).
Gives: what differs from what the page says.  Never: skips a block.

In an answer, `…` stands for whatever differs from run to run; a console that shows no answer is not compared.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.acceptance.docs.pages import Block, blocks

_ANY = "…"
_WIDTH = "120"


@dataclass
class Walker:
    """Somebody who does what the page says, in a folder of their own."""

    folder: Path

    def follow(self, page: Path) -> int:
        """Every marked block, in order; gives how many there were."""
        steps = [block for block in blocks(page) if block.mark in ("change", "typed")]
        for step in steps:
            self.take(step)
        return len(steps)

    def take(self, step: Block) -> None:
        """One change or one command."""
        if step.mark == "change":
            self._change(step)
        else:
            self._type(step)

    def _change(self, step: Block) -> None:
        file = self.folder / str(step.file)
        lines = step.text.splitlines()
        old, new = ("".join(f"{line[2:]}\n" for line in lines if line[:1] != sign) for sign in "+-")
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{step.page}: this stands {text.count(old)} times in {step.file}:\n{old}"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def _type(self, step: Block) -> None:
        command, *answer = step.text.splitlines()
        words = shlex.split(command.removeprefix("$ "))
        if words[0] == "cd":
            self.folder /= words[1]
            return
        done = subprocess.run(
            [sys.executable, "-m", "ringfence.cli", *words[1:]],
            cwd=self.folder, env={**os.environ, "COLUMNS": _WIDTH}, timeout=120,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
        assert (command, str(done.returncode)) == (command, step.file), "\n".join(said)
        if answer:
            assert len(said) == len(answer), f"{command}\n" + "\n".join(said)
            differing = [pair for pair in zip(answer, said, strict=True) if not _fits(*pair)]
            assert differing == [], f"{command}\n" + "\n".join(said)


def _fits(shown: str, said: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, shown.split(_ANY))), said) is not None
