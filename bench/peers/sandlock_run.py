"""Runs one command under sandlock, in a process that has nothing but sandlock.

Takes: sandlock's folder, the folders to show, scratch, the command.  Gives: the command's output.
Never: a rule for the network; sandlock then refuses all of it.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/dev")
SECONDS = 60.0


def quick_start(sandlock: Any, *, shown: list[str], scratch: str, **more: Any) -> Any:
    """As its quick start has it, with nothing of the caller's environment."""
    readable = [*SYSTEM, *shown]
    return sandlock.Sandbox(fs_readable=readable, fs_writable=[scratch], cwd=scratch, clean_env=True, **more)


def bounded(sandlock: Any, *, shown: list[str], scratch: str) -> Any:
    """The same with every limit that it knows, of the same size as ours or smaller."""
    return quick_start(
        sandlock,
        shown=shown,
        scratch=scratch,
        workdir=scratch,
        max_disk="64M",
        on_exit=sandlock.BranchAction.ABORT,
        no_coredump=True,
        max_memory="256M",
        max_processes=32,
        max_open_files=128,
    )


def main() -> None:
    library, shown, scratch, *words = sys.argv[1:]
    sys.path.insert(0, library)
    sandlock = importlib.import_module("sandlock")
    result = bounded(sandlock, shown=shown.split(":"), scratch=scratch).run(words, timeout=SECONDS)
    sys.stdout.write((result.stdout or b"").decode(errors="replace"))
    sys.stderr.write((result.stderr or b"").decode(errors="replace") + f"\n{result.error or result.reason}\n")


if __name__ == "__main__":
    main()
