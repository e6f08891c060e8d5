"""Runs a program, and ends whatever it leaves running: a wall that was taken out may be the one that ends processes.

Takes: the program and its arguments.  Gives: the program's own end.  Never: imports ringfence, of which a wall may be
missing.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER


def run_alone(words: Sequence[str]) -> int:
    """The status of a program, once nothing that it started lives."""
    if ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0) != 0:
        raise OSError("the kernel hands no orphans over")
    status = subprocess.call(words)
    with suppress(ChildProcessError):
        while True:
            for pid in _children():
                os.kill(pid, signal.SIGKILL)
            os.wait()
    return status


def _children() -> Iterator[int]:
    for task in Path("/proc/self/task").glob("*/children"):
        yield from map(int, task.read_text(encoding="utf-8").split())


if __name__ == "__main__":
    sys.exit(run_alone(sys.argv[1:]))
