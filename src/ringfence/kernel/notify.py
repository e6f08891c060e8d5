"""A system call that the kernel holds until somebody outside has answered it.

Takes: a filter whose table asks, then what is asked.  Gives: each question once, and the kernel an answer to it.
Never: lets the call go on by itself, whose arguments could be others by then; the answer is an errno, or done.

Whatever is copied out of the asking process counts only if the question is still open after the copy: until it is
answered the thread stands still, and its number belongs to nobody else. Where nobody listens, the call is ENOSYS.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from dataclasses import dataclass

from ringfence.kernel import proc
from ringfence.kernel.seccomp import Action, prepare
from ringfence.kernel.syscalls import call

ASK = Action(0x7FC0_0000)
NEW_LISTENER = 1 << 3
ONLY_DEATH_INTERRUPTS = 1 << 5  # since Linux 5.19

_SET_MODE_FILTER = 1
_NOTICE = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")
_ID = struct.Struct("=Q")
_RECEIVE, _SEND, _IS_VALID = 0xC050_2100, 0xC018_2101, 0x4008_2102
_LISTENER = "anon_inode:seccomp notify"


@dataclass(frozen=True, kw_only=True)
class Notice:
    """One call that waits for an answer: who makes it, which it is, and its registers."""

    id: int
    thread: int
    number: int
    arguments: tuple[int, ...]


def install(encoded: bytes) -> int:
    """Put this process under a filter that asks, for good; gives the descriptor that its questions arrive at.

    Preconditions: no_new_privs is set, this is the only thread, and no filter of this process has a listener.
    """
    header, _ = prepare(encoded)
    try:
        return call("seccomp", _SET_MODE_FILTER, NEW_LISTENER | ONLY_DEATH_INTERRUPTS, header)
    except OSError as failure:
        if failure.errno != errno.EINVAL:
            raise
        return call("seccomp", _SET_MODE_FILTER, NEW_LISTENER, header)


def is_listener(descriptor: int) -> bool:
    return os.readlink(f"/proc/self/fd/{descriptor}") == _LISTENER


def receive(listener: int) -> Notice | None:
    """The next question, where the descriptor says that one waits; None where whoever asked is gone."""
    buffer = bytearray(_NOTICE.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, buffer)
    except OSError as failure:
        if failure.errno == errno.ENOENT:
            return None
        raise
    id_, thread, _, number, _, _, *arguments = _NOTICE.unpack(buffer)
    return Notice(id=id_, thread=thread, number=number, arguments=tuple(arguments))


def is_open(listener: int, notice: Notice) -> bool:
    """Whether the thread still waits, so that everything copied before this was its own."""
    try:
        fcntl.ioctl(listener, _IS_VALID, _ID.pack(notice.id))
    except OSError as failure:
        if failure.errno == errno.ENOENT:
            return False
        raise
    return True


def answer(listener: int, notice: Notice, *, error: int) -> bool:
    """Have the call return this errno, or 0 for none; False where nobody waits any more."""
    try:
        fcntl.ioctl(listener, _SEND, _ANSWER.pack(notice.id, 0, -error, 0))
    except OSError as failure:
        if failure.errno == errno.ENOENT:
            return False
        raise
    return True


def process_of(thread: int) -> int:
    """The process that a thread belongs to."""
    status = proc.read(f"/proc/{thread}/status")
    return int(status.partition(b"\nTgid:")[2].split(None, 1)[0])


def read_memory(thread: int, *, at: int, size: int) -> bytes:
    """So many bytes of the thread's memory; OSError where they are not all there."""
    descriptor = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.pread(descriptor, size, at)
    except (OSError, OverflowError):
        raise OSError(errno.EFAULT, "no such memory") from None
    finally:
        os.close(descriptor)
    if len(content) < size:
        raise OSError(errno.EFAULT, "no such memory")
    return content


def take_descriptor(process: int, number: int) -> int:
    """A copy of another process's descriptor: both lead to the same open file."""
    held = os.pidfd_open(process)
    try:
        return call("pidfd_getfd", held, number, 0)
    finally:
        os.close(held)
