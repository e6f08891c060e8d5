"""Bytes from one socket to another, small ones copied and many of them spliced through the kernel.

Takes: two connected sockets that do not block.  Gives: every byte, in order, and the end of the stream.
Never: looks at a byte, or holds more than one buffer.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

Tally: TypeAlias = Callable[[int], None]

_BUFFER = 65_536
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
_MOST_KEPT = 16
_MOVE_NOW = 1 | 2  # SPLICE_F_MOVE | SPLICE_F_NONBLOCK


class Pipes:
    """Empty pipes for splicing; a connection borrows one only while bytes are in it."""

    def __init__(self) -> None:
        self._free: list[tuple[int, int]] = []

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


async def carry(source: socket.socket, sink: socket.socket, *, tally: Tally, pipes: Pipes) -> None:
    """All bytes until the source ends, then the end itself; a broken connection raises."""
    buffer = bytearray(_BUFFER)
    view = memoryview(buffer)
    while True:
        count = await _receive(source, view)
        if count == 0:
            break
        tally(count)
        await send_all(sink, view[:count])
        if count == _BUFFER:
            while await _splice(source, sink, tally=tally, pipes=pipes):
                await ready(source, "read")
            break
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


async def _receive(source: socket.socket, view: memoryview) -> int:
    while True:
        try:
            return source.recv_into(view)
        except BlockingIOError:
            await ready(source, "read")


async def send_all(sink: socket.socket, content: bytes | memoryview) -> None:
    left = memoryview(content)
    while left:
        try:
            left = left[sink.send(left) :]
        except BlockingIOError:
            await ready(sink, "write")


async def _splice(source: socket.socket, sink: socket.socket, *, tally: Tally, pipes: Pipes) -> bool:
    """Move all bytes that are here; False at the end of the stream."""
    pipe = pipes.borrow()
    held = 0
    try:
        while True:
            try:
                held = os.splice(source.fileno(), pipe[1], _PIPE_BYTES, flags=_MOVE_NOW)
            except BlockingIOError:
                return True
            if held == 0:
                return False
            tally(held)
            held = await _pour(pipe[0], sink, held)
    finally:
        if held:
            close_pipe(pipe)
        else:
            pipes.give_back(pipe)


async def _pour(pipe: int, sink: socket.socket, held: int) -> int:
    while held:
        try:
            held -= os.splice(pipe, sink.fileno(), held, flags=_MOVE_NOW)
        except BlockingIOError:
            await ready(sink, "write")
    return held


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
