"""The connections of a call that has no network of its own: the kernel asks here before it makes one.

Takes: the listener of the call's filter.  Gives: the other end of the tool's own socket, and the address it dialled.
Never: has the kernel go on with a call, puts a socket of the host into the jail, or aims the tool's anywhere but here.

The address lies in the tool's memory, where another of its threads may change it: it is copied once, and what was
copied is checked and dialled. Whatever the tool's socket is joined to is a listener that lives for that one moment.
"""

from __future__ import annotations

import asyncio
import errno
import os
import select
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from ringfence.edge.arrivals import TakeUp
from ringfence.edge.ledger import Ledger
from ringfence.edge.ofcall import Dialled
from ringfence.edge.resolve import Closed
from ringfence.execution.edge import Asking
from ringfence.kernel import notify
from ringfence.kernel.notify import Notice
from ringfence.kernel.syscalls import NUMBERS

Check: TypeAlias = Callable[[Dialled], None]

_CONNECT = NUMBERS["connect"]
_HERE = "127.0.0.1"
_FAMILY = struct.Struct("=H")
_IPV4 = struct.Struct("!2xH4s8x")
_IPV6 = struct.Struct("!2xH4x16s4s")
_NO_SCOPE = bytes(4)
_UNCONNECTED = 7  # TCP_CLOSE
_BACKLOG = 8
_PATIENCE = 100  # milliseconds


class Connects:
    """Answers every connect of one call's processes."""

    def __init__(
        self, asking: Asking, *, check: Check, take_up: TakeUp, turned_away: Callable[[], None], ledger: Ledger
    ) -> None:
        self._listener = asking.listener
        self._belongs = asking.belongs
        self._check = check
        self._take_up = take_up
        self._turned_away = turned_away
        self._ledger = ledger
        self._open = True
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._listener, self._asked)

    def stop(self) -> None:
        """Answer no more: whoever waits, and whoever asks from now on, is told that there is no such call."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._listener)
            os.close(self._listener)

    close = stop

    def _asked(self) -> None:
        try:
            notice = notify.receive(self._listener)
            if notice is not None:
                self._answer(notice)
        except OSError as failure:
            self._ledger.refused("protocol_error", f"the edge no longer hears a call's connects: {failure.strerror}")
            self.stop()

    def _answer(self, notice: Notice) -> None:
        made: socket.socket | None = None
        dialled: Dialled = ("", 0)
        error = 0
        try:
            dialled, theirs = self._copied(notice)
            with theirs:
                self._check(dialled)
                made = join(theirs)
        except Closed as refusal:
            self._ledger.refused(refusal.code, str(refusal))
            error = errno.ECONNREFUSED
        except OSError as failure:
            error = failure.errno or errno.EPERM
        waits = notify.answer(self._listener, notice, error=error)
        if made is None:
            self._turned_away()
        elif waits:
            self._take_up(made, dialled)
        else:
            made.close()

    def _copied(self, notice: Notice) -> tuple[Dialled, socket.socket]:
        """What is dialled and the tool's own socket, both certain to be of the thread that waits."""
        if notice.number != _CONNECT:
            raise OSError(errno.ENOSYS, "not a connect")
        descriptor, at, size, *_ = notice.arguments
        process = notify.process_of(notice.thread)
        if not self._belongs(process):
            raise Closed("a process that is not of this call asks for a connection")
        raw = notify.read_memory(notice.thread, at=at, size=_size(size))
        theirs = _as_stream(notify.take_descriptor(process, descriptor & 0xFFFF_FFFF))
        try:
            if not notify.is_open(self._listener, notice):
                raise OSError(errno.EINTR, "whoever asked is gone")
            return _dialled(raw, family=theirs.family), theirs
        except BaseException:
            theirs.close()
            raise


def _size(stated: int) -> int:
    """How much of an address to copy; the kernel takes longer ones too, and reads no further."""
    stated &= 0xFFFF_FFFF
    if stated < _IPV4.size:
        raise OSError(errno.EINVAL, "no address")
    return min(stated, _IPV6.size)


def _as_stream(descriptor: int) -> socket.socket:
    """The tool's socket, if it is one that can be joined: TCP, and leading nowhere yet."""
    try:
        theirs = socket.socket(fileno=descriptor)
    except OSError:
        os.close(descriptor)
        raise
    try:
        kind = (theirs.family in (socket.AF_INET, socket.AF_INET6), theirs.type, theirs.proto)
        if kind != (True, socket.SOCK_STREAM, socket.IPPROTO_TCP):
            raise OSError(errno.EPERM, "not a TCP socket")
        if theirs.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _UNCONNECTED:
            raise OSError(errno.EISCONN, "it leads somewhere")
    except BaseException:
        theirs.close()
        raise
    return theirs


def _dialled(raw: bytes, *, family: int) -> Dialled:
    """The address that was copied; nothing else connects, and a socket's own cannot be dissolved."""
    (stated,) = _FAMILY.unpack_from(raw)
    if stated != family:
        raise OSError(errno.EAFNOSUPPORT, "another family than the socket's")
    if family == socket.AF_INET:
        port, packed = _IPV4.unpack_from(raw)
        return socket.inet_ntop(socket.AF_INET, packed), port
    if len(raw) < _IPV6.size:
        raise OSError(errno.EINVAL, "no address")
    port, packed, scope = _IPV6.unpack_from(raw)
    if scope != _NO_SCOPE:
        raise Closed("an address of one network interface is closed")
    return socket.inet_ntop(socket.AF_INET6, packed).removeprefix("::ffff:"), port


def join(theirs: socket.socket) -> socket.socket:
    """Connect the tool's socket to a listener of its own; gives the other end of it."""
    with socket.create_server((_HERE, 0), backlog=_BACKLOG) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        aim(theirs, (_HERE if theirs.family == socket.AF_INET else f"::ffff:{_HERE}", port))
        expected = theirs.getsockname()[1]
        # Anybody on this machine could have found the listener in this moment; only the tool's own socket is taken.
        for _ in range(_BACKLOG):
            made, peer = _accepted(listener)
            if peer == (_HERE, expected):
                made.setblocking(False)
                return made
            made.close()
    raise OSError(errno.ECONNREFUSED, "others were faster")


def _accepted(listener: socket.socket) -> tuple[socket.socket, tuple[str, int]]:
    """What arrived; on one machine that is at once, but a busy kernel may finish it a moment later."""
    arriving = select.poll()
    arriving.register(listener, select.POLLIN)
    if not arriving.poll(_PATIENCE):
        raise OSError(errno.ECONNREFUSED, "nothing arrived")
    return listener.accept()


def aim(theirs: socket.socket, place: Dialled) -> None:
    """Without waiting, whatever the tool set: its mode is the open file's, and is put back."""
    mode = os.get_blocking(theirs.fileno())
    os.set_blocking(theirs.fileno(), False)
    try:
        with suppress(BlockingIOError):
            theirs.connect(place)
    finally:
        os.set_blocking(theirs.fileno(), mode)
