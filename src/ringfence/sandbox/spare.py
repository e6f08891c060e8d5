"""One process that waits for one call, as the host holds it.

Takes: a jail's control socket.  Gives: a spare that was seen confined.  Never: takes a process's own word for its pid.
"""

from __future__ import annotations

import _socket
import array
import errno
import os
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ringfence.inside import wire
from ringfence.inside.zygote import SPARE
from ringfence.sandbox.groups import Lent
from ringfence.sandbox.outlet import Outward
from ringfence.sandbox.posture import Sighting
from ringfence.sandbox.processes import Held

_CREDENTIALS = struct.Struct("iII")
CREDENTIALS_SPACE = socket.CMSG_SPACE(_CREDENTIALS.size)
_READY = wire.pack(wire.Kind.READY)
_MOST_COMPLAINT = 16_384
_DESCRIPTOR = array.array("i", [0])


class NotReady(Exception):
    """What came instead of the one frame that says a spare waits."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Ends:
    """The host's ends of a spare's channel and of what it prints.

    The channel is what the standard library's socket is built on: that one would be made, asked about and closed in
    Python, for every call.
    """

    channel: _socket.socket
    printed: int

    def close(self) -> None:
        self.channel.close()
        os.close(self.printed)


@dataclass(frozen=True, kw_only=True)
class Spare:
    """A confined process that waits."""

    ends: Ends
    process: Held
    seen: Sighting
    inner_pid: int
    group: Lent | None
    outward: Outward

    def discard(self) -> None:
        """Nobody will be served by it."""
        self.ends.close()
        self.outward.close()

    def is_silent(self) -> bool:
        """Whether it still waits and has said nothing that nobody asked for."""
        try:
            self.ends.channel.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False


def request(control: socket.socket, *, doors: Sequence[int], allowance: bytes) -> Ends:
    """Ask a zygote for a spare that enters these groups; OSError where it is gone or does not listen."""
    ours, theirs = _socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        printed, printed_theirs = os.pipe2(os.O_CLOEXEC)
    except OSError:
        ours.close()
        theirs.close()
        raise
    try:
        ours.setblocking(False)
        os.set_blocking(printed, False)
        # Before the other end leaves: the kernel stamps only what is sent after this.
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        socket.send_fds(control, [SPARE + allowance], [theirs.fileno(), printed_theirs, *doors])
    except OSError:
        ours.close()
        os.close(printed)
        raise
    finally:
        theirs.close()
        os.close(printed_theirs)
    return Ends(channel=ours, printed=printed)


def ready_pid(channel: _socket.socket) -> int:
    """The pid, in the kernel's words, of the process that says it is ready."""
    message, ancillary, _, _ = channel.recvmsg(_MOST_COMPLAINT, CREDENTIALS_SPACE)
    if message != _READY:
        raise NotReady(message[wire.HEADER_BYTES :].decode(errors="replace")[:1000] or "it ended")
    return sender(ancillary)


def ready_with(channel: _socket.socket, *, most: int) -> tuple[int, list[int]]:
    """The pid of a process that says it is ready, and the descriptors that it hands out, at most so many."""
    space = CREDENTIALS_SPACE + (socket.CMSG_SPACE(most * _DESCRIPTOR.itemsize) if most else 0)
    message, ancillary, flags, _ = channel.recvmsg(_MOST_COMPLAINT, space, socket.MSG_CMSG_CLOEXEC)
    descriptors = _DESCRIPTOR[:0]
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    cut = flags & socket.MSG_CTRUNC and len(descriptors) < most
    if message != _READY or cut:
        for descriptor in descriptors:
            os.close(descriptor)
        if cut:  # fewer than there is room for: the kernel had none left for the others
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        raise NotReady(message[wire.HEADER_BYTES :].decode(errors="replace")[:1000] or "it ended")
    return sender(ancillary), list(descriptors)


def sender(ancillary: list[tuple[int, int, bytes]]) -> int:
    """Who sent a message, by the kernel's stamp."""
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            pid: int = _CREDENTIALS.unpack(content)[0]
            return pid
    raise NotReady("the message bears no stamp of its sender")
