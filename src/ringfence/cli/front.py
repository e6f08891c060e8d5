"""The front door: help at once, everything else through the commands, and no traceback whatever happens.

Takes: the words of the command line.  Gives: an exit code.
Never: loads more than it must to answer; the libraries that parse and draw come with the command that needs them.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from ringfence.cli.table import help_text

INTERRUPTED, PIPE_CLOSED = 130, 141
_ASKS_FOR_HELP: tuple[list[str], ...] = (["--help"], ["-h"], [])
COMPLETING = "_RINGFENCE_COMPLETE"


def main() -> NoReturn:
    """The entry point of `ringfence`."""
    _survive_any_encoding()
    try:
        code = _answer(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader has gone: what is left in the buffer must not raise once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = PIPE_CLOSED
    sys.exit(code)


def _answer(words: list[str]) -> int:
    if words in _ASKS_FOR_HELP and COMPLETING not in os.environ:
        print(help_text())
        return 0 if words else 2
    # In-function import: help does not wait for the parser.
    from ringfence.cli.ending import complete, run_to_exit

    return complete() if COMPLETING in os.environ else run_to_exit(words)


def _survive_any_encoding() -> None:
    """A terminal that lacks a character is given its number."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
