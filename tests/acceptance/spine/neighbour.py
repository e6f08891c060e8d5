"""Another process on the same state, with its view built before anything changes; told what to do by a pipe.

Takes: a folder.  Gives: one line for each word on stdin.  Never: runs tool code.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest  # noqa: F401  # pyright: ignore[reportUnusedImport]  # the scripted sandbox works in a test run alone

from tests.acceptance.spine import toolbox
from tests.acceptance.spine.household import House, config, open_house
from tests.architecture.source import ROOT


class Neighbour:
    """The other process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, words: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


@contextmanager
def neighbour(folder: Path) -> Generator[Neighbour, None, None]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(ROOT)])}
    command = [sys.executable, "-m", "tests.acceptance.spine.neighbour", str(folder)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Neighbour(process)
    finally:
        process.communicate("quit\n", timeout=60)
    assert process.returncode == 0


async def answer(house: House, words: str) -> str:
    session = house.session(id="next-door")
    if words == "view":
        return " ".join(tool.name for tool in session.view)
    outcome = await session.call(words, {"text": "x"})
    return str(getattr(outcome, "code", outcome.status))


async def live(folder: Path) -> None:
    async with open_house(config(folder), tools=[toolbox.echo, toolbox.publish]) as house:
        loop = asyncio.get_running_loop()
        while (words := (await loop.run_in_executor(None, sys.stdin.readline)).strip()) not in ("quit", ""):
            sys.stdout.write(await answer(house, words) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1])))
