"""Looks through everything that live processes hold and everything below some folders, for some words.

Runs as root beside the jails, so that it sees more than any tool could.
"""

from __future__ import annotations

import ctypes
import os
import socket
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

MEMORY, ENVIRONMENT, COMMAND_LINE = "memory", "environment", "command line"
PIPE, SOCKET, OPEN_FILE, FILE = "pipe", "socket", "open file", "file"
IN_A_PROCESS = frozenset({MEMORY, ENVIRONMENT, COMMAND_LINE, PIPE, SOCKET, OPEN_FILE, FILE})
_MOST = 1 << 26
_NOT_FILES = frozenset({"proc", "sysfs", "devpts", "cgroup2", "mqueue"})
_NONBLOCK, _GETFD = 2, 438
_libc = ctypes.CDLL(None, use_errno=True)


def descendants() -> list[int]:
    """Every process below this one: fork servers, wardens, zygotes, spares and the tools themselves."""
    parents = dict[int, int]()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it ended meanwhile
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while fresh := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= fresh
    return sorted(found - {os.getpid()})


def places_in(processes: Iterable[int], *, words: Sequence[bytes]) -> set[str]:
    """In which kinds of places of these processes one of the words is."""
    return {place for pid in processes for place, held in held_by(pid) if any(word in held for word in words)}


def held_by(pid: int) -> Iterator[tuple[str, bytes]]:
    """All that a process holds, each with the kind of its place."""
    try:
        yield ENVIRONMENT, Path(f"/proc/{pid}/environ").read_bytes()
        yield COMMAND_LINE, Path(f"/proc/{pid}/cmdline").read_bytes()
        yield MEMORY, _memory(pid)
        yield from _descriptors(pid)
        yield from ((FILE, content) for content in _files(pid))
    except (ProcessLookupError, FileNotFoundError):
        return  # it ended meanwhile


def files_with(folder: Path, *, words: Sequence[bytes], apart_from: Iterable[Path] = ()) -> list[Path]:
    """The files below a folder that hold one of the words, in their content or their name."""
    own = set(apart_from)
    files = [file for file in folder.rglob("*") if file.is_file() and file not in own]
    return [file for file in files if any(word in file.read_bytes() + os.fsencode(file.name) for word in words)]


def _memory(pid: int) -> bytes:
    held = bytearray()
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as content:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            bounds, mode, *_ = line.split()
            start, end = (int(bound, 16) for bound in bounds.split("-"))
            if mode.startswith("rw") and end - start < 1 << 28:
                with suppress(OSError):  # a page that nothing can read
                    content.seek(start)
                    held += content.read(end - start)
    return bytes(held)


def _descriptors(pid: int) -> Iterator[tuple[str, bytes]]:
    for entry in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{entry}"
        with suppress(OSError):  # closed meanwhile, or of a kind that cannot be opened
            kind = os.stat(path).st_mode
            if stat.S_ISREG(kind):
                yield OPEN_FILE, _read(path)
            elif stat.S_ISFIFO(kind):
                yield PIPE, _copied(path)
            elif stat.S_ISSOCK(kind):
                yield SOCKET, _peeked(pid, int(entry))


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(_MOST)


def _copied(path: str) -> bytes:
    """What is in a pipe, which stays in it."""
    there = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    reading, writing = os.pipe()
    try:
        count = _libc.tee(there, writing, 1 << 16, _NONBLOCK)
        return os.read(reading, count) if count > 0 else b""
    finally:
        for descriptor in (there, reading, writing):
            os.close(descriptor)


def _peeked(pid: int, descriptor: int) -> bytes:
    """What a socket has received and nobody has read, which stays in it."""
    process = os.pidfd_open(pid)
    try:
        copy = _libc.syscall(_GETFD, process, descriptor, 0)
    finally:
        os.close(process)
    if copy < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    with socket.socket(fileno=copy) as theirs:
        return theirs.recv(1 << 16, socket.MSG_PEEK | socket.MSG_DONTWAIT)


def _files(pid: int) -> Iterator[bytes]:
    """Every file below what the process could write to, where its root is one of its own: a blank has the host's."""
    if os.path.samefile(f"/proc/{pid}/root", "/"):
        return
    for line in Path(f"/proc/{pid}/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        point, options = before.split()[4:6]
        if "rw" not in options.split(",") or after.split()[0] in _NOT_FILES or point == "/dev":
            continue
        yield from _below(f"/proc/{pid}/root{point}")


def _below(folder: str) -> Iterator[bytes]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with suppress(OSError):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield _read(path)
