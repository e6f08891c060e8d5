"""Descriptors that come and go with every call, behind a single one that the event loop knows.

Takes: descriptors, and what to do when one can be read.  Gives: those calls, on the event loop.  Never: calls back for
a descriptor that was taken out, even where its number has a new owner by then.

The event loop keeps a record, a handle and a context for each descriptor; a call that adds and removes three of them
spends more on that than on its own frames.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable

_AT_ONCE = 64


class Ears:
    """Hears for all jails of one host, as an event loop would (`Hearing`)."""

    def __init__(self) -> None:
        self._called: dict[int, Callable[[], object]] = {}
        self._kernel = select.epoll()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._kernel.fileno(), self._hear)

    def add_reader(self, fd: int, callback: Callable[[], object], /) -> None:
        self._kernel.register(fd, select.EPOLLIN)
        self._called[fd] = callback

    def remove_reader(self, fd: int, /) -> None:
        if self._called.pop(fd, None) is not None:
            self._kernel.unregister(fd)

    def close(self) -> None:
        self._loop.remove_reader(self._kernel.fileno())
        self._kernel.close()
        self._called.clear()

    def _hear(self) -> None:
        called = self._called
        readable = [(fd, called.get(fd)) for fd, _ in self._kernel.poll(0, _AT_ONCE)]
        for fd, callback in readable:
            # One call back may take out the descriptor of another, or close it and open one of the same number.
            if callback is not None and called.get(fd) is callback:
                try:
                    callback()
                except Exception as failure:  # what one call makes of its bytes keeps nobody else from being heard
                    context = {"message": "what was heard at a descriptor was not taken", "exception": failure}
                    self._loop.call_exception_handler(context)
