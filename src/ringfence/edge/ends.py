"""One side of a connection, whether its bytes are plain or under TLS.

Takes: a socket, or the streams of a TLS connection.  Gives: read, write and close, alike for both.
Never: says what the bytes mean.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Protocol

from ringfence.edge.relay import Pipes, Tally, carry, send_all

_CHUNK = 65_536
_BULK = 1 << 18
_RESET = struct.pack("ii", 1, 0)


class End(Protocol):
    """Reads, writes and ends."""

    async def read(self) -> bytes:
        """Some bytes; none at the end of the stream."""
        ...

    async def write(self, content: bytes) -> None: ...

    async def finish(self) -> None:
        """Say that nothing more will be written, and go on reading."""
        ...

    async def end(self) -> None:
        """Have everything written arrive, then say that this was all."""
        ...

    def has_ended(self) -> bool:
        """Whether the other side is known to be gone, or has said something that nobody asked for."""
        ...

    def close(self) -> None: ...


class SocketEnd:
    """A plain socket."""

    def __init__(self, plain: socket.socket) -> None:
        self.socket = plain

    async def read(self) -> bytes:
        return await asyncio.get_running_loop().sock_recv(self.socket, _CHUNK)

    async def write(self, content: bytes) -> None:
        await send_all(self.socket, content)

    async def finish(self) -> None:
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    end = finish

    def has_ended(self) -> bool:
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def close(self) -> None:
        self.socket.close()


class StreamEnd:
    """The streams of a TLS connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def read(self) -> bytes:
        return await self._reader.read(_BULK)

    async def write(self, content: bytes) -> None:
        self._writer.write(content)
        await self._writer.drain()

    async def finish(self) -> None:
        """TLS has no half of an end; whoever reads to the end closes."""

    async def end(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    def has_ended(self) -> bool:
        return self._reader.at_eof() or self._writer.is_closing()

    def close(self) -> None:
        self._writer.transport.abort()


async def pump(source: End, sink: End, *, tally: Tally, pipes: Pipes) -> None:
    """Carry everything from one end to the other."""
    if isinstance(source, SocketEnd) and isinstance(sink, SocketEnd):
        await carry(source.socket, sink.socket, tally=tally, pipes=pipes)
        return
    while content := await source.read():
        tally(len(content))
        await sink.write(content)
    await sink.end()


def reset(plain: socket.socket) -> None:
    """Close so that the other side sees a broken connection, not a polite end."""
    with suppress(OSError):
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    plain.close()
