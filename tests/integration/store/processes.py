"""Other processes on the same store, told what to do by a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.architecture.source import ROOT


class Racer:
    """One other process."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.store.racer", str(folder)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, words: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()

    def answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def ask(self, words: str) -> str:
        self.tell(words)
        return self.answer()

    def close(self) -> None:
        self.tell("quit")
        self._process.communicate(timeout=30)
        assert self._process.returncode == 0


@contextmanager
def racers(folder: Path, *, count: int) -> Generator[list[Racer], None, None]:
    with ExitStack() as stack:
        started: list[Racer] = []
        for _ in range(count):
            started.append(Racer(folder))
            stack.callback(started[-1].close)
        yield started
