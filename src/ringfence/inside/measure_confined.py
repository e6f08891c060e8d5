"""Tries, in a process confined without namespaces, what such a jail must refuse, and tells what the kernel said.

Takes: what was granted.  Gives: the outcome of each try, by name.  Never: judges; the host compares with what is
required.

Every path here is one that the user itself could open, so that a refusal is the jail's and not the file's mode. A try
that succeeds where a wall is missing changes nothing that is anybody's, and leaves nothing.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Collection, Sequence
from typing import Any

from ringfence.inside.layout import SCRATCH, Granted
from ringfence.inside.measure import MAKING_FILES, TRIES, Try, outcome
from ringfence.kernel.closures import TRUNCATE_SINCE
from ringfence.kernel.namespaces import NEW_USER, SAME_PARENT, flags_register
from ringfence.kernel.syscalls import call

_E = errno
_MOST_DESCRIPTORS = 4096
_EVERYBODYS = "/etc/passwd"
_READABLE = "/dev/null"
_NOBODY = ("127.0.0.1", 9)
_FAST_OPEN = 0x2000_0000
_MADE_POSSIBLE = "new socket"


def _fresh() -> str:
    """A name that nobody has, in the folder that everybody may write to."""
    return f"{SCRATCH}/ringfence-{os.getpid()}"


def _make_file() -> None:
    os.close(os.open(_fresh(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(_fresh())


def _on_own_pipe(act: Callable[[int], object]) -> None:
    """Act on something that this process owns, so that only the filter is in the way."""
    ends = os.pipe()
    try:
        act(ends[0])
    finally:
        for end in ends:
            os.close(end)


def _bare_truncation() -> None:
    os.close(os.open(_READABLE, os.O_RDONLY | os.O_TRUNC))


_BY_A_FILTER = tuple(one for one in TRIES if one.mechanism == "seccomp")

CONFINED_TRIES: tuple[Try, ...] = (
    Try("read outside", "landlock", lambda: os.open(_EVERYBODYS, os.O_RDONLY), (_E.EACCES,)),
    Try("list the root", "landlock", lambda: os.listdir("/"), (_E.EACCES,)),
    Try("list processes", "landlock", lambda: os.listdir("/proc"), (_E.EACCES,)),
    Try("read own status", "landlock", lambda: os.open("/proc/self/status", os.O_RDONLY), (_E.EACCES,)),
    Try("kernel settings", "landlock", lambda: os.open("/proc/sys/kernel/ostype", os.O_RDONLY), (_E.EACCES,)),
    Try("make a file", "landlock", _make_file, (_E.EACCES,)),
    Try("make a folder", "landlock", lambda: _made(lambda: os.mkdir(_fresh()), _fresh()), (_E.EACCES,)),
    Try("make a link", "landlock", lambda: _made(lambda: os.symlink("/", _fresh()), _fresh()), (_E.EACCES,)),
    Try("change a mode", "seccomp", lambda: _on_own_pipe(lambda end: os.fchmod(end, 0o600)), (_E.EPERM,)),
    Try("change times", "seccomp", lambda: _on_own_pipe(os.utime), (_E.EPERM,)),
    Try("read attributes", "seccomp", lambda: os.listxattr(_EVERYBODYS), (_E.ENOTSUP,)),
    Try("signal the warden", "landlock or seccomp", lambda: os.kill(os.getppid(), 0), (_E.EPERM,)),
    Try("another spare", "seccomp", lambda: call("clone", flags_register(SAME_PARENT), 0, 0, 0, 0), (_E.EPERM,)),
    Try("namespace", "seccomp", lambda: call("clone", flags_register(NEW_USER), 0, 0, 0, 0), (_E.EPERM,)),
    Try("outlive the warden", "seccomp", lambda: call("prctl", 1, 0, 0, 0, 0), (_E.EPERM,)),
    Try("vsock", "seccomp", lambda: socket.socket(socket.AF_VSOCK), (_E.EPERM,)),
    *_BY_A_FILTER,
)  # fmt: skip

# Only where Landlock itself cannot refuse them.
BELOW_TRUNCATE: tuple[Try, ...] = (
    Try("truncate by name", "seccomp", lambda: os.truncate(_READABLE, 0), (_E.EPERM,)),
    Try("truncate while opening", "seccomp", _bare_truncation, (_E.EPERM,)),
    Try("open with hidden flags", "seccomp", lambda: call("openat2", -100, b"/dev/null", bytes(24), 24), (_E.ENOSYS,)),
)  # fmt: skip


# With a way out there is one kind of socket, and the kernel asks before it leads anywhere; here nobody answers.
ASKED_FIRST: tuple[Try, ...] = (
    Try("connect", "seccomp", lambda: _on_own_socket(lambda made: made.connect(_NOBODY)), (_E.ENOSYS,)),
    Try("fast open", "seccomp", lambda: _on_own_socket(lambda made: made.sendto(b"x", _FAST_OPEN, _NOBODY)),
        (_E.EPERM,)),
    Try("datagram socket", "seccomp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM), (_E.EPERM,)),
)  # fmt: skip


def tries_for(version: int, granted: Sequence[Granted] = (), clients: Collection[str] = ()) -> tuple[Try, ...]:
    """What must be refused at this Landlock version, with these places and needs granted."""
    older = BELOW_TRUNCATE if version < TRUNCATE_SINCE else ()
    always = CONFINED_TRIES
    if "network" in clients:
        always = (*(one for one in CONFINED_TRIES if one.name != _MADE_POSSIBLE), *ASKED_FIRST)
    made = MAKING_FILES if "files" in clients else ()
    return (*always, *older, *made, *(one for each in granted for one in _of_a_grant(each)))


def _on_own_socket(act: Callable[[socket.socket], object]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as made:
        act(made)


def _of_a_grant(granted: Granted) -> tuple[Try, ...]:
    """A folder that may be read takes nothing new, one that may be written takes no link; a file keeps to its right."""
    place, fresh = granted.source, f"{granted.source}/ringfence-{os.getpid()}"
    if not os.path.isdir(place):
        write = Try(f"write {place}", "landlock", lambda: os.close(os.open(place, os.O_WRONLY)), (_E.EACCES,))
        return (write,) if granted.access == "read" else ()
    link = Try(f"link in {place}", "landlock", lambda: _made(lambda: os.symlink("/", fresh), fresh), (_E.EACCES,))
    folder = Try(f"add to {place}", "landlock", lambda: _made(lambda: os.mkdir(fresh), fresh), (_E.EACCES, _E.EROFS))
    return (link, folder) if granted.access == "read" else (link,)


def _made(make: Callable[[], object], path: str) -> None:
    make()
    (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)


def measure_confined(version: int, granted: Sequence[Granted] = (), clients: Collection[str] = ()) -> dict[str, Any]:
    """What each try came to, and what this process sees of itself."""
    return {
        "tries": {one.name: outcome(one.act) for one in tries_for(version, granted, clients)},
        "uids": sorted({*os.getresuid(), *os.getresgid()}),
        "groups": os.getgroups(),
        "descriptors": [number for number in range(_MOST_DESCRIPTORS) if _is_open(number)],
        "environment": sorted(os.environ),
        "landlock": version,
    }


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
