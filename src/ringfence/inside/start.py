"""Where a fork server's life begins: a fresh interpreter, an empty environment, one socket.

Takes: the socket's number on the command line, the import path as the first message.  Gives: nothing.
Never: imports ringfence before the path is set; this file is run by its name, outside the package.
"""

from __future__ import annotations

import _thread
import json
import os
import socket
import sys
from collections.abc import Callable
from importlib import import_module

_MOST_BYTES = 65_536


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    sys.dont_write_bytecode = True
    _load_what_renews_locks()
    sys.path[:] = json.loads(control.recv(_MOST_BYTES))
    from ringfence.inside.forkserver import serve  # noqa: PLC0415  the path above decides what this finds

    serve(control)


def _load_what_renews_locks() -> None:
    """Both renew their locks in every child, in case a thread that is gone held one; most children had no such thread.

    What that touches is a sixth of the memory that a spare has for itself, and of the time that it takes to make one.
    """
    register, os.register_at_fork = os.register_at_fork, _register_for_threads
    try:
        import_module("logging")
        import_module("threading")
    finally:
        os.register_at_fork = register


def _register_for_threads(
    *,
    before: Callable[[], object] | None = None,
    after_in_child: Callable[[], object] | None = None,
    after_in_parent: Callable[[], object] | None = None,
    register: Callable[..., None] = os.register_at_fork,
) -> None:
    """Register hooks that run only where there was a second thread; looked at once a fork, before it."""
    others = 0

    def look() -> None:
        nonlocal others
        others = _thread._count()  # pyright: ignore[reportPrivateUsage]  what `threading` counts leaves some out
        if others and before is not None:
            before()

    def in_child() -> None:
        if others and after_in_child is not None:
            after_in_child()

    def in_parent() -> None:
        if others and after_in_parent is not None:
            after_in_parent()

    register(before=look, after_in_child=in_child, after_in_parent=in_parent)


if __name__ == "__main__":
    main()
