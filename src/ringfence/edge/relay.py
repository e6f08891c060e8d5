"""Bytes from one socket to another, small ones copied and many of them spliced through the kernel.

Takes: two connected sockets that do not block.  Gives: every byte, in order, and the end of the stream.
Never: looks at a byte, holds more than one buffer, or keeps the loop while others wait.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, TypeAlias

from ringfence.edge.ledger import Exhausted

Tally: TypeAlias = Callable[[int], None]
Waits: TypeAlias = Literal["read", "write"]

_BUFFER = 65_536
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
_MOST_KEPT = 16
_MOST_AT_ONCE = 16
_MOVE_NOW = 1 | 2  # SPLICE_F_MOVE | SPLICE_F_NONBLOCK


class Pipes:
    """Empty pipes for splicing, borrowed only while bytes move, and one buffer for all that is small."""

    def __init__(self) -> None:
        self._free: list[tuple[int, int]] = []
        self.buffer = bytearray(_BUFFER)

    def borrow(self) -> tuple[int, int]:
        return self._free.pop() if self._free else _new_pipe()

    def give_back(self, pipe: tuple[int, int]) -> None:
        if len(self._free) < _MOST_KEPT:
            self._free.append(pipe)
        else:
            close_pipe(pipe)

    def close(self) -> None:
        while self._free:
            close_pipe(self._free.pop())


def _new_pipe() -> tuple[int, int]:
    pipe = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    # An ordinary user has only so much pipe memory; the usual size then does.
    with suppress(PermissionError):
        fcntl.fcntl(pipe[1], _F_SETPIPE_SZ, _PIPE_BYTES)
    return pipe


def close_pipe(pipe: tuple[int, int]) -> None:
    os.close(pipe[0])
    os.close(pipe[1])


class Flow:
    """Moves by the loop's own callbacks, begins at once, and is over when the source is; `failure` is why it broke."""

    def __init__(self, source: socket.socket, sink: socket.socket, *, tally: Tally, pipes: Pipes) -> None:
        self._source, self._sink = source, sink
        # By number: whoever asks the selector for a socket that it has not has that socket described in full.
        self._from, self._to = source.fileno(), sink.fileno()
        self._tally, self._pipes = tally, pipes
        self._loop = asyncio.get_running_loop()
        self._copied = memoryview(b"")
        self._pipe: tuple[int, int] | None = None
        self._in_pipe = 0
        self._many: bool = False
        self._waits: Waits | None = None
        self.failure: BaseException | None = None
        self.over: asyncio.Future[None] = self._loop.create_future()
        self._turn()

    def close(self) -> None:
        """Move nothing more."""
        self._wait_for(None)
        if self._pipe is not None:
            (close_pipe if self._in_pipe else self._pipes.give_back)(self._pipe)
            self._pipe = None

    def _turn(self) -> None:
        """Whatever can be moved now; then wait for the side that is in the way."""
        try:
            waits = self._move()
            if waits is None:
                with suppress(OSError):
                    self._sink.shutdown(socket.SHUT_WR)
        except (OSError, Exhausted) as failure:
            self.failure, waits = failure, None
        if waits is not None:
            self._wait_for(waits)
            return
        self.close()
        if not self.over.done():
            self.over.set_result(None)

    def _move(self) -> Waits | None:
        """What to wait for; None at the end of the stream."""
        for _ in range(_MOST_AT_ONCE):
            if not self._pour():
                return "write"
            count = self._take()
            if count is None:
                return "read"
            if count == 0:
                return None
            self._tally(count)
        return "read" if self._pour() else "write"

    def _take(self) -> int | None:
        """How much came; None where nothing is there yet."""
        try:
            if self._many:
                return self._splice()
            count = self._source.recv_into(self._pipes.buffer)
        except BlockingIOError:
            self._let_pipe_go()
            return None
        self._many = count == _BUFFER
        self._copied = memoryview(self._pipes.buffer)[:count]
        return count

    def _splice(self) -> int:
        self._pipe = self._pipe or self._pipes.borrow()
        self._in_pipe = os.splice(self._from, self._pipe[1], _PIPE_BYTES, flags=_MOVE_NOW)
        return self._in_pipe

    def _pour(self) -> bool:
        """Whether all that was taken is on its way."""
        try:
            while self._copied:
                self._copied = self._copied[self._sink.send(self._copied) :]
            while self._in_pipe and self._pipe is not None:
                self._in_pipe -= os.splice(self._pipe[0], self._to, self._in_pipe, flags=_MOVE_NOW)
        except BlockingIOError:
            # The buffer is everybody's.
            self._copied = memoryview(bytes(self._copied))
            return False
        return True

    def _let_pipe_go(self) -> None:
        if self._pipe is not None and not self._in_pipe:
            self._pipes.give_back(self._pipe)
            self._pipe = None

    def _wait_for(self, what: Waits | None) -> None:
        if what == self._waits:
            return
        if self._waits == "read":
            self._loop.remove_reader(self._from)
        elif self._waits == "write":
            self._loop.remove_writer(self._to)
        self._waits = what
        if what == "read":
            self._loop.add_reader(self._from, self._turn)
        elif what == "write":
            self._loop.add_writer(self._to, self._turn)


async def carry(source: socket.socket, sink: socket.socket, *, tally: Tally, pipes: Pipes) -> None:
    """All bytes until the source ends, then the end itself; a broken connection raises."""
    flow = Flow(source, sink, tally=tally, pipes=pipes)
    try:
        await flow.over
    finally:
        flow.close()
    if flow.failure is not None:
        raise flow.failure


async def send_all(sink: socket.socket, content: bytes | memoryview) -> None:
    left = memoryview(content)
    while left:
        try:
            left = left[sink.send(left) :]
        except BlockingIOError:
            await ready(sink, "write")


async def ready(end: socket.socket, what: str) -> None:
    """Wait until the socket can be read from or written to."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[None] = loop.create_future()
    descriptor = end.fileno()
    add, remove = (loop.add_reader, loop.remove_reader) if what == "read" else (loop.add_writer, loop.remove_writer)
    add(descriptor, _settle, waiting)
    try:
        await waiting
    finally:
        remove(descriptor)


def _settle(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
