"""`ctx.processes`: listed programs, started in the call's own jail, with an environment that no caller chooses.

Takes: the listed programs.  Gives: how one ended and what it said.  Never: starts what was not listed, or goes through
a shell.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from ringfence.errors import CallFailed
from ringfence.inside.layout import Program
from ringfence.inside.process_output import converse


@dataclass(frozen=True, kw_only=True)
class Finished:
    """How a program ended: its exit code (minus the signal that ended it), and what it wrote.

    `dropped` is how many bytes it wrote beyond what was to be kept.
    """

    code: int
    stdout: bytes
    stderr: bytes
    dropped: int = 0


class Processes:
    """Blocking, for tools that are plain functions."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self._files = {name: each.place for each in programs for name in (each.name, each.place, each.path)}

    def run(
        self,
        argv: Sequence[str],
        *,
        input: bytes | str = b"",
        timeout: float | None = None,
        keep: int | None = None,
    ) -> Finished:
        """Run a listed program to its end; `argv[0]` is its name as listed, or its path.

        With `keep`, only the first so many bytes of each of its two outputs are held, and the rest is counted.
        """
        started = subprocess.Popen(
            [self._file(argv), *argv[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ),
        )
        heard = converse(started, given=_bytes(input), timeout=timeout, keep=keep)
        return Finished(code=started.returncode, stdout=heard.stdout, stderr=heard.stderr, dropped=heard.dropped)

    def _file(self, argv: Sequence[str]) -> str:
        if isinstance(argv, str) or not argv:
            raise CallFailed("`argv` is a list of words, the first of which names a program", code="tool_error")
        found = self._files.get(argv[0])
        if found is None:
            raise CallFailed(f"binary {argv[0]!r} is not on the list of this call", code="binary_not_allowed")
        return found


class AwaitedProcesses(Processes):
    """The same, awaited, for tools that are coroutines."""

    async def run(  # type: ignore[override]
        self,
        argv: Sequence[str],
        *,
        input: bytes | str = b"",
        timeout: float | None = None,  # noqa: ASYNC109  the same names as in a plain function
        keep: int | None = None,
    ) -> Finished:
        return await asyncio.to_thread(super().run, argv, input=input, timeout=timeout, keep=keep)


def _bytes(given: bytes | str) -> bytes:
    return given.encode() if isinstance(given, str) else given
