"""What a program says while it runs, heard to its end and held only as far as somebody wants it.

Takes: a program that was just started, with pipes.  Gives: both outputs, and how much was dropped.
Never: holds more than was asked for, or leaves the program running when its time is over.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from dataclasses import dataclass
from typing import IO, cast

_CHUNK = 65_536


@dataclass(frozen=True, kw_only=True)
class Heard:
    """The bytes that were kept, and how many were not."""

    stdout: bytes
    stderr: bytes
    dropped: int


class _Stream:
    def __init__(self, pipe: IO[bytes], *, keep: int | None) -> None:
        self.pipe = pipe
        self.kept = bytearray()
        self.dropped = 0
        self._keep = keep

    def take(self) -> bool:
        """Hear the next piece; whether there may be more."""
        piece = os.read(self.pipe.fileno(), _CHUNK)
        room = len(piece) if self._keep is None else max(0, self._keep - len(self.kept))
        self.kept += piece[:room]
        self.dropped += len(piece[room:])
        return bool(piece)


def converse(program: subprocess.Popen[bytes], *, given: bytes, timeout: float | None, keep: int | None) -> Heard:
    """Give a program its input and hear it out; `TimeoutExpired` where it does not end in time."""
    stdin, stdout, stderr = (cast("IO[bytes]", pipe) for pipe in (program.stdin, program.stdout, program.stderr))
    heard = [_Stream(pipe, keep=keep) for pipe in (stdout, stderr)]
    until = None if timeout is None else time.monotonic() + timeout
    with program, selectors.DefaultSelector() as waiting:
        try:
            for stream in heard:
                waiting.register(stream.pipe, selectors.EVENT_READ, stream)
            _feed(stdin, memoryview(given), waiting=waiting)
            while waiting.get_map():
                _turn(waiting, left=_left(program, until=until, timeout=timeout))
            program.wait(_left(program, until=until, timeout=timeout))
        except BaseException:
            program.kill()
            raise
    out, err = heard
    return Heard(stdout=bytes(out.kept), stderr=bytes(err.kept), dropped=out.dropped + err.dropped)


def _left(program: subprocess.Popen[bytes], *, until: float | None, timeout: float | None) -> float | None:
    if until is None or timeout is None:
        return None
    left = until - time.monotonic()
    if left <= 0:
        raise subprocess.TimeoutExpired(program.args, timeout)
    return left


def _turn(waiting: selectors.BaseSelector, *, left: float | None) -> None:
    for key, _ in waiting.select(left):
        if isinstance(key.data, _Stream):
            if not key.data.take():
                waiting.unregister(key.data.pipe)
        else:
            waiting.unregister(key.fileobj)
            _feed(cast("IO[bytes]", key.fileobj), key.data, waiting=waiting)


def _feed(stdin: IO[bytes], rest: memoryview, *, waiting: selectors.BaseSelector) -> None:
    """Write as much as fits now, and wait with the rest; a program that reads no further has had enough."""
    os.set_blocking(stdin.fileno(), False)
    try:
        written = os.write(stdin.fileno(), rest[:_CHUNK]) if rest else 0
    except BlockingIOError:
        written = 0
    except BrokenPipeError:
        written = len(rest)
    if written < len(rest):
        waiting.register(stdin, selectors.EVENT_WRITE, rest[written:])
    else:
        stdin.close()
