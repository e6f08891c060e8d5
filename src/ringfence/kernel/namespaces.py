"""A process is born in its own namespaces, with its own user ids, and with Python and libc knowing it was forked.

Takes: clone flags, id maps, names.  Gives: a pid (0 in the child).  Never: enters another process's namespace.

Preconditions: `clone` is called by a process with one thread, as `os.fork` should be.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import os
import signal
import socket
import struct
from dataclasses import dataclass
from typing import Literal

from ringfence.kernel.syscalls import NUMBERS, call, open_here

NEW_MOUNTS = 0x0002_0000
NEW_HOSTNAME = 0x0400_0000
NEW_IPC = 0x0800_0000
NEW_USER = 0x1000_0000
NEW_PIDS = 0x2000_0000
NEW_NETWORK = 0x4000_0000
NEW_CGROUP = 0x0200_0000
NEW_TIME = 0x0000_0080
SAME_PARENT = 0x0000_8000  # CLONE_PARENT: the child's parent is the caller's parent

_CHILD_SETTID = 0x0100_0000
_CHILD_CLEARTID = 0x0020_0000
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_TID_ADDRESS = 40
_SIOCSIFFLAGS = 0x8914
_IFF_UP_RUNNING = 0x41

# PyDLL keeps the interpreter lock: between the fork hooks no other thread may run.
_clone = ctypes.PyDLL(None, use_errno=True).syscall
_clone.argtypes = [ctypes.c_void_p] * 6
_clone.restype = ctypes.c_long
_before_fork = ctypes.pythonapi.PyOS_BeforeFork
_after_fork_in_child = ctypes.pythonapi.PyOS_AfterFork_Child
_after_fork_in_parent = ctypes.pythonapi.PyOS_AfterFork_Parent


@dataclass(frozen=True, kw_only=True)
class IdMap:
    """One line of a uid or gid map: `count` ids from `inside` are ids from `outside`."""

    inside: int
    outside: int
    count: int = 1

    def __str__(self) -> str:
        return f"{self.inside} {self.outside} {self.count}"


def flags_register(flags: int) -> int:
    """The exact first argument that `clone(flags)` passes, for a filter that admits this value alone."""
    return flags | signal.SIGCHLD | _CHILD_SETTID | _CHILD_CLEARTID


class Birth:
    """A fork into new namespaces, spelled out for a process that does it again and again."""

    def __init__(self, flags: int) -> None:
        self._flags = flags
        # INVARIANT: libc's idea of the thread id is the kernel's. Without this the child keeps its parent's id, and in
        # a fresh pid namespace its first new thread can get that very number: both threads then own one recursive lock.
        self._words = (NUMBERS["clone"], flags_register(flags), 0, 0, _thread_id_address(), 0)

    def give(self) -> int:
        """The child's pid, or 0 in the child."""
        _before_fork()
        pid: int = _clone(*self._words)
        if pid == 0:
            _after_fork_in_child()
            return 0
        _after_fork_in_parent()
        if pid < 0:
            # Of the call alone: the hooks have no part in this number.
            number = ctypes.get_errno()
            raise OSError(number, f"clone {self._flags:#x}: {os.strerror(number)}")
        return pid


def clone(flags: int) -> int:
    """Fork into new namespaces: the child's pid, or 0 in the child."""
    return Birth(flags).give()


@functools.cache
def _thread_id_address() -> int:
    """Where libc keeps the thread's id: in the same place in every child, and of the one thread that may clone."""
    address = ctypes.create_string_buffer(8)
    call("prctl", _PR_GET_TID_ADDRESS, address, 0, 0, 0)
    (found,) = struct.unpack("Q", address.raw)
    if not found or ctypes.c_int.from_address(found).value != call("gettid"):
        raise OSError(f"clone: libc keeps no thread id at {found:#x}; a C library other than glibc is not supported")
    return int(found)


def write_maps(pid: int | Literal["self"], *, uid: IdMap, gid: IdMap, setgroups: Literal["deny", "keep"]) -> None:
    """Give a new user namespace its ids; an ordinary user must deny setgroups first."""
    if setgroups == "deny":
        _write(f"/proc/{pid}/setgroups", text="deny")
    _write(f"/proc/{pid}/uid_map", text=str(uid))
    _write(f"/proc/{pid}/gid_map", text=str(gid))


def rehearse() -> None:
    """Go through what every birth does, without one."""
    _thread_id_address()
    _write(os.devnull, text="")


def become(uid: int, *, gid: int) -> None:
    """Take on these ids for good: real, effective and saved."""
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def set_dumpable(state: Literal["dumpable", "hidden"]) -> None:
    """Whether others of the same uid may read this process's memory and /proc; a change of uid hides it."""
    call("prctl", _PR_SET_DUMPABLE, int(state == "dumpable"), 0, 0, 0)


def die_with_parent() -> None:
    """Be killed when the parent ends; a change of uid forgets this, so it comes after `become`."""
    hear_of_parents_end(signal.SIGKILL)


def hear_of_parents_end(number: signal.Signals) -> None:
    """Get this signal when the parent ends."""
    call("prctl", _PR_SET_PDEATHSIG, number, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that it is reaped here and nowhere else."""
    call("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def set_hostname(name: str) -> None:
    encoded = name.encode()
    call("sethostname", encoded, len(encoded))


def bring_loopback_up() -> None:
    """A fresh network namespace has `lo`, and it is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP_RUNNING))


def _write(path: str, *, text: str) -> None:
    # One write, unbuffered: the kernel takes a map whole or not at all.
    descriptor = open_here(path, flags=os.O_WRONLY | os.O_CLOEXEC)
    try:
        encoded = text.encode()
        call("write", descriptor, encoded, len(encoded))
    finally:
        call("close", descriptor)
