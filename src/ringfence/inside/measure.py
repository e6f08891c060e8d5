"""Tries, from inside a confined process, what a jail must refuse, and tells what the kernel said.

Takes: nothing.  Gives: the outcome of each try, by name.  Never: judges; the host compares with what is required.

It runs in a child that is confined like every spare and was forked before the tool was imported, so no tool code
could have touched it.
"""

from __future__ import annotations

import errno
import mmap
import os
import socket
import struct
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from ringfence.inside.layout import SCRATCH
from ringfence.kernel.namespaces import NEW_USER
from ringfence.kernel.syscalls import call, failed, made

_DONE = "done"
_BEYOND_THE_TABLE = 1000
_NO_ARGUMENTS = (0,) * 6
_BEYOND_EVERY_LIMIT = 1 << 50


@dataclass(frozen=True)
class Try:
    """One thing that must fail: which mechanism is at work, and with which errno it may fail.

    It is not made where the need `unless` was granted.
    """

    name: str
    mechanism: str
    act: Callable[[], object]
    refused_with: tuple[int, ...]
    unless: str | None = None


def _write(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))


def _enlarge() -> None:
    descriptor = os.open(f"{SCRATCH}/large", os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.ftruncate(descriptor, _BEYOND_EVERY_LIMIT)
    finally:
        os.close(descriptor)


def _unknown_call() -> None:
    answer = made(_BEYOND_THE_TABLE, *_NO_ARGUMENTS)
    if answer < 0:
        raise failed("a call beyond the table", answer=answer)


def _copy() -> str:
    path = f"{SCRATCH}/copy"
    if not os.path.exists(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o700)
        os.write(descriptor, b"\x7fELF" + bytes(mmap.PAGESIZE))
        os.close(descriptor)
    return path


def _run_a_copy() -> None:
    call("execve", _copy().encode(), None, None)


def _map_a_copy() -> None:
    with open(_copy(), "rb") as file:
        mmap.mmap(file.fileno(), mmap.PAGESIZE, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)


_E = errno
TRIES: tuple[Try, ...] = (
    Try("read outside", "mount namespace", lambda: os.open("/etc/shadow", os.O_RDONLY), (_E.ENOENT,)),
    Try("list outside", "mount namespace", lambda: os.listdir("/sys"), (_E.ENOENT,)),
    Try("kernel settings", "proc subset", lambda: os.open("/proc/sys/kernel/core_pattern", os.O_RDONLY), (_E.ENOENT,)),
    Try("write the root", "read-only root", lambda: _write("/here"), (_E.EROFS, _E.EACCES)),
    Try("write own timer", "landlock", lambda: os.open("/proc/self/timerslack_ns", os.O_WRONLY), (_E.EACCES,)),
    Try("read own start", "hidden process", lambda: os.open("/proc/self/auxv", os.O_RDONLY), (_E.EACCES,)),
    Try("boundless file", "resource limits", _enlarge, (_E.EFBIG,)),
    Try("signal others", "pid namespace", lambda: os.kill(2, 0), (_E.ESRCH,)),
    Try("new socket", "seccomp", lambda: socket.socket(socket.AF_INET), (_E.EPERM,)),
    Try("new unix socket", "seccomp", lambda: socket.socket(socket.AF_UNIX), (_E.EPERM,)),
    Try("raw socket", "seccomp", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1), (_E.EPERM,)),
    Try("netlink socket", "seccomp", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0), (_E.EPERM,)),
    Try("bind", "seccomp", lambda: call("bind", 0, None, 0), (_E.EPERM,)),
    Try("listen", "seccomp", lambda: call("listen", 0, 1), (_E.EPERM,)),
    Try("mount", "seccomp", lambda: call("mount", b"x", b"/tmp", b"tmpfs", 6, None), (_E.EPERM,)),
    Try("unshare", "seccomp", lambda: call("unshare", NEW_USER), (_E.EPERM,)),
    Try("ptrace", "seccomp", lambda: call("ptrace", 0, 0, 0, 0), (_E.EPERM,)),
    Try("fork", "seccomp", lambda: call("fork"), (_E.EPERM,), unless="processes"),
    Try("execute", "seccomp", lambda: call("execve", b"/proc/self/exe", None, None), (_E.EPERM,), unless="processes"),
    Try("memfd", "seccomp", lambda: call("memfd_create", b"x", 0), (_E.EPERM,)),
    Try("shared memory", "seccomp", lambda: mmap.mmap(-1, 4096), (_E.EPERM,), unless="processes"),
    Try("io_uring", "seccomp", lambda: call("io_uring_setup", 1, None), (_E.EPERM,)),
    Try("bpf", "seccomp", lambda: call("bpf", 0, None, 0), (_E.EPERM,)),
    Try("keyring", "seccomp", lambda: call("keyctl", 0, 0), (_E.EPERM,)),
    Try("raise a limit", "seccomp", lambda: call("prlimit64", 0, 7, bytes(16), None), (_E.EPERM,)),
    Try("become root", "seccomp", lambda: os.setuid(0), (_E.EPERM,)),
    Try("landlock again", "seccomp", lambda: call("landlock_create_ruleset", None, 0, 1), (_E.EPERM,)),
    Try("clone3", "seccomp", lambda: call("clone3", bytes(88), 88), (_E.ENOSYS,)),
    Try("unknown call", "seccomp", _unknown_call, (_E.ENOSYS,)),
)  # fmt: skip


_WITH_PROCESSES: tuple[Try, ...] = (
    Try("execute itself", "landlock", lambda: call("execve", b"/proc/self/exe", None, None), (_E.EACCES,)),
    Try("execute a descriptor", "seccomp", lambda: call("execveat", 0, b"", None, None, 0x1000), (_E.EPERM,)),
    Try("execute in scratch", "landlock", _run_a_copy, (_E.EACCES,)),
    Try("map code of scratch", "mount without code", _map_a_copy, (_E.EPERM,)),
    Try("child apart", "seccomp", lambda: call("clone", NEW_USER | 17, 0, 0, 0, 0), (_E.EPERM,)),
)  # fmt: skip


def _set_id_by_openat2() -> None:
    how = struct.pack("QQQ", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o4700, 0)
    os.close(call("openat2", -100, f"{SCRATCH}/set-id".encode(), how, len(how)))


MAKING_FILES: tuple[Try, ...] = (
    Try("set-id file", "seccomp",
        lambda: os.close(os.open(f"{SCRATCH}/set-id", os.O_WRONLY | os.O_CREAT, 0o4700)), (_E.EPERM,)),
    Try("set-id file, hidden", "seccomp", _set_id_by_openat2, (_E.ENOSYS,)),
)  # fmt: skip
_CHANGING_FILES = (Try("set-id bit", "seccomp", lambda: os.chmod(SCRATCH, 0o4700), (_E.EPERM,)),)


def tries_with(clients: Collection[str]) -> tuple[Try, ...]:
    """What must fail in a jail with these needs granted."""
    always = tuple(one for one in TRIES if one.unless not in clients)
    with_programs = _WITH_PROCESSES if "processes" in clients else ()
    return (*always, *with_programs, *((*MAKING_FILES, *_CHANGING_FILES) if "files" in clients else ()))


def measure(clients: Collection[str] = ()) -> dict[str, Any]:
    """What each try came to, and what this process sees of itself."""
    return {
        "tries": {one.name: outcome(one.act) for one in tries_with(clients)},
        "pid": os.getpid(),
        "uid": os.getuid(),
        "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()),
        "descriptors": _descriptors(),
        "environment": sorted(os.environ),
        "hostname": os.uname().nodename,
        "writable": _writable_mounts(),
    }


def outcome(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError as failure:
        return errno.errorcode.get(failure.errno or 0, "unknown")
    return _DONE


def _descriptors() -> list[int]:
    return sorted(number for number in map(int, os.listdir("/proc/self/fd")) if _is_open(number))


def _is_open(descriptor: int) -> bool:
    """False for the one that listing the folder took and gave back."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _writable_mounts() -> list[str]:
    with open("/proc/self/mounts", encoding="utf-8") as table:
        rows = [line.split() for line in table]
    return sorted(row[1] for row in rows if "rw" in row[3].split(","))
