"""A secret that a program prints.

Takes: the program and its arguments, each a word of its own.  Gives: what it prints.
Never: goes through a shell, waits for ever, or repeats what the program said when it failed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import PurePath

from ringfence.execution.secrets import Fetched, SecretUnavailable, SecretValue

_SECONDS = 20.0
_LASTS = 60.0
_MOST_BYTES = 65_536


class CommandSource:
    """Runs the program at most once a minute."""

    kind = "command"
    lasts = _LASTS

    def __init__(self, name: str, *, argv: Sequence[str], seconds: float = _SECONDS) -> None:
        self._name = name
        self._argv = tuple(argv)
        self._seconds = seconds

    @property
    def where(self) -> str:
        """The program alone: an argument may say more than its author thought."""
        return PurePath(self._argv[0]).name

    def fetch(self) -> Fetched:
        problem, printed = self._printed()
        if problem is not None:
            del printed
            raise SecretUnavailable(f"`{self.where}` {problem}", remedy="run the command of `secrets` by hand")
        return Fetched(value=SecretValue(self._name, printed.removesuffix("\n").removesuffix("\r")))

    def _printed(self) -> tuple[str | None, str]:
        try:
            ended = subprocess.run(
                self._argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=self._seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"did not end within {self._seconds:g} seconds", ""
        except OSError as error:
            return f"could not be started: {(error.strerror or 'no reason given').lower()}", ""
        if ended.returncode:
            return f"ended with exit status {ended.returncode}", ""
        if len(ended.stdout) > _MOST_BYTES:
            return f"printed more than {_MOST_BYTES} bytes", ""
        try:
            return None, ended.stdout.decode()
        except UnicodeDecodeError:
            return "printed something that is not UTF-8 text", ""
