"""Where a fork server's life begins: a fresh interpreter, an empty environment, one socket.

Takes: the socket's number on the command line, the import path as the first message.  Gives: nothing.
Never: imports ringfence before the path is set; this file is run by its name, outside the package.
"""

from __future__ import annotations

import _random
import _thread
import json
import os
import socket
import sys
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Any

_MOST_BYTES = 65_536
_REHEARSALS = 16

Hook = Callable[[], object]


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    sys.dont_write_bytecode = True
    _load_what_renews_itself()
    sys.path[:] = json.loads(control.recv(_MOST_BYTES))
    from ringfence.inside.forkserver import serve  # noqa: PLC0415  the path above decides what this finds

    serve(control)


def _load_what_renews_itself() -> None:
    """What a child does at its birth is most of what it copies: a third of its pages, if all hooks ran as they come."""
    register = os.register_at_fork
    with_threads = _WithThreads()
    try:
        os.register_at_fork = with_threads.add
        import_module("logging")
        import_module("threading")
        os.register_at_fork = _ignore
        random: Any = import_module("random")
    finally:
        os.register_at_fork = register
    with_threads.rehearse()
    register(before=with_threads.before, after_in_child=with_threads.in_child, after_in_parent=with_threads.in_parent)
    # The same seed from the kernel, without the way there that is written in Python.
    register(after_in_child=partial(_random.Random.seed, random._inst))


def _ignore(
    *, before: Hook | None = None, after_in_child: Hook | None = None, after_in_parent: Hook | None = None
) -> None:
    """Register nothing."""


class _WithThreads:
    """Hooks that renew locks, in case a thread that is gone held one: run only where there was a second thread."""

    def __init__(self) -> None:
        self._hooks: list[tuple[Hook | None, Hook | None, Hook | None]] = []
        self._others = 0

    def add(
        self, *, before: Hook | None = None, after_in_child: Hook | None = None, after_in_parent: Hook | None = None
    ) -> None:
        self._hooks.append((before, after_in_child, after_in_parent))

    def rehearse(self) -> None:
        """Until Python has worked out how each step is best taken, it writes to the code as it runs it."""
        for _ in range(_REHEARSALS):
            self.before()
            self.in_child()
            self.in_parent()

    def before(self) -> None:
        self._others = _thread._count()  # pyright: ignore[reportPrivateUsage]  what `threading` counts leaves some out
        if self._others:
            _run(hooks[0] for hooks in reversed(self._hooks))

    def in_child(self) -> None:
        if self._others:
            _run(hooks[1] for hooks in self._hooks)

    def in_parent(self) -> None:
        if self._others:
            _run(hooks[2] for hooks in self._hooks)


def _run(hooks: Iterable[Hook | None]) -> None:
    for hook in hooks:
        if hook is not None:
            hook()


if __name__ == "__main__":
    main()
