"""Runs `ringfence` as a person would: the installed program, in a folder, with words.

Takes: words.  Gives: what came back.  Never: calls into the package.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = str(Path(sys.executable).parent / "ringfence")
ENVIRONMENT = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "HOME": os.environ.get("HOME", "/")}
if "PYTHONPATH" in os.environ:  # the source that the tests themselves run on
    ENVIRONMENT["PYTHONPATH"] = os.environ["PYTHONPATH"]


@dataclass(frozen=True, kw_only=True)
class Typed:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def typed(*words: str, cwd: Path, stdin: str = "", **environment: str) -> Typed:
    """Type a command line and wait for its end."""
    done = subprocess.run(
        [PROGRAM, *words],
        cwd=cwd,
        input=stdin,
        env={**ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr or "RINGFENCE_DEBUG" in environment, done.stderr
    return Typed(code=done.returncode, out=done.stdout, err=done.stderr)


def typed_at_terminal(*words: str, cwd: Path, answer: str) -> tuple[int, str]:
    """The same at a terminal, where one question is answered; gives the exit code and the screen."""
    keyboard, terminal = pty.openpty()
    environment = {**ENVIRONMENT, "TERM": "dumb", "COLUMNS": "200"}
    running = subprocess.Popen(
        [PROGRAM, *words], cwd=cwd, env=environment, stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    os.write(keyboard, f"{answer}\n".encode())
    screen = b""
    while True:
        try:
            seen = os.read(keyboard, 4096)
        except OSError:  # the terminal's last user has gone
            break
        screen += seen
    os.close(keyboard)
    return running.wait(timeout=60), screen.decode()


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A project on disk, and the words typed in it."""

    folder: Path

    def typed(self, *words: str, stdin: str = "") -> Typed:
        return typed(*words, cwd=self.folder, stdin=stdin)

    def json(self, *words: str) -> Any:
        return self.typed(*words, "--json").document

    def edit(self, name: str, old: str, new: str) -> None:
        file = self.folder / name
        text = file.read_text()
        assert old in text, old
        file.write_text(text.replace(old, new))

    def asked(self, amount_cents: int, *more: str) -> dict[str, Any]:
        """A refund that waits for votes."""
        arguments = json.dumps({"order": "A-1001", "amount_cents": amount_cents})
        came = self.typed("call", "ana", "refund", arguments, "--json", *more)
        assert came.code == 3, came
        waiting: dict[str, Any] = came.document
        return waiting
