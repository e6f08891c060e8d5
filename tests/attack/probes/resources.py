"""Takes more than its share: memory by every road, files, descriptors, kernel objects.

Takes: nothing that matters.  Gives: an `Attempt`, or dies of the limit that it meets.  Never: takes so much that a host
without a jail would suffer; each bomb is a little larger than what a jail allows.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gzip
import io
import mmap
import os
import select
import shutil
import socket
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial

from ringfence import tool

from .attempt import Attempt, Canaries, attempt, attempts, system_call  # noqa: TID252  imported as `probes.resources`

_MEBIBYTE = 1 << 20
# The shipped limits are 256 MiB of memory, 64 MiB of scratch and 128 descriptors.
_BOMB = 700 * _MEBIBYTE
_SLICE = 50 * _MEBIBYTE
_TOO_MUCH_KERNEL_MEMORY = 32 * _MEBIBYTE
_TOO_MUCH_SCRATCH = 96 * _MEBIBYTE
_TOO_MANY_FILES = 6_000
_TOO_MANY_DESCRIPTORS = 300
_TERABYTES = 32 << 40

_PRIVATE, _SHARED, _ANONYMOUS, _GROWS_DOWN, _NO_RESERVE = 0x02, 0x01, 0x20, 0x0100, 0x4000
_READ_WRITE, _READ = 3, 1
_MMAP, _MPROTECT, _MLOCK = 9, 10, 149
_SHMGET, _SHMCTL, _SEMGET, _SEMCTL = 29, 31, 64, 66
_MEMFD, _TIMERFD, _SIGNALFD, _INOTIFY, _IO_SETUP = 319, 283, 289, 294, 206
_EVENTFD, _TIMER_CREATE = 290, 222


def _mapped(size: int, flags: int, *, descriptor: int = -1) -> int:
    return system_call(_MMAP, 0, size, _READ_WRITE, flags, descriptor, 0)


def _filled(size: int, flags: int, *, descriptor: int = -1) -> str:
    ctypes.memset(_mapped(size, flags, descriptor=descriptor), 1, size)
    return f"{size // _MEBIBYTE} MiB"


@tool(safety="read")
def line_083_memory(canaries: Canaries) -> Attempt:
    """Fill plain memory."""
    return attempt(lambda: f"{len(bytearray(_BOMB)) // _MEBIBYTE} MiB")


@tool(safety="read")
def line_083_memory_as_stack(canaries: Canaries) -> Attempt:
    """Fill memory that the kernel counts as a stack and not as data."""
    return attempt(lambda: _filled(_BOMB, _PRIVATE | _ANONYMOUS | _GROWS_DOWN))


@tool(safety="read")
def line_083_memory_made_read_only(canaries: Canaries) -> Attempt:
    """Fill memory slice by slice, each made read-only before the next, so that it no longer counts as data."""

    def hoard() -> str:
        for _ in range(_BOMB // _SLICE):
            start = _mapped(_SLICE, _PRIVATE | _ANONYMOUS)
            ctypes.memset(start, 1, _SLICE)
            system_call(_MPROTECT, start, _SLICE, _READ)
        return f"{_BOMB // _MEBIBYTE} MiB"

    return attempt(hoard)


@tool(safety="read")
def line_083_memory_that_is_shared(canaries: Canaries) -> Attempt:
    """Fill memory that no process owns."""

    def of_zero() -> str:
        zero = os.open("/dev/zero", os.O_RDWR)
        try:
            return _filled(_SLICE, _SHARED, descriptor=zero)
        finally:
            os.close(zero)

    return attempts(
        {
            "anonymous": lambda: mmap.mmap(-1, _MEBIBYTE).close(),
            "zero": of_zero,
            "memfd": lambda: os.close(system_call(_MEMFD, b"probe", 0)),
            "sysv": lambda: _remove_segment(system_call(_SHMGET, 0, _MEBIBYTE, 0o1600)),
        }
    )


def _remove_segment(identifier: int) -> None:
    system_call(_SHMCTL, identifier, 0, None)


@tool(safety="read")
def line_083_memory_of_the_kernel(canaries: Canaries) -> Attempt:
    """Park bytes in pipes and in the buffers of sockets."""
    return attempts({"pipes": lambda: _hoarded(_large_pipe), "sockets": lambda: _hoarded(_pair)})


def _large_pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    with contextlib.suppress(PermissionError):
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _MEBIBYTE)
    return writer, reader


def _pair() -> tuple[int, int]:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return one.detach(), other.detach()


def _hoarded(make: Callable[[], tuple[int, int]]) -> str:
    held: list[int] = []
    total = 0
    try:
        while total < _TOO_MUCH_KERNEL_MEMORY:
            held += make()
            total += _stuffed(held[-2])
        return f"{total // _MEBIBYTE} MiB"
    finally:
        for descriptor in held:
            os.close(descriptor)


def _stuffed(descriptor: int) -> int:
    os.set_blocking(descriptor, False)
    total = 0
    try:
        while True:
            total += os.write(descriptor, bytes(65_536))
    except BlockingIOError:
        return total


@tool(safety="read")
def line_084_locked_memory(canaries: Canaries) -> Attempt:
    """Lock a page, so that the host cannot take it back."""
    page = ctypes.create_string_buffer(8192)
    return attempt(lambda: system_call(_MLOCK, ctypes.addressof(page), 4096))


@tool(safety="read")
def line_084_boundless_memory(canaries: Canaries) -> Attempt:
    """Reserve more than any machine has."""
    return attempt(lambda: f"{_mapped(_TERABYTES, _PRIVATE | _ANONYMOUS | _NO_RESERVE):x}")


@tool(safety="read")
def line_085_scratch_bytes(canaries: Canaries) -> Attempt:
    """Fill the scratch folder."""

    def fill() -> str:
        with tempfile.TemporaryDirectory(dir=".") as folder:
            for number in range(_TOO_MUCH_SCRATCH // _MEBIBYTE):
                with open(f"{folder}/{number}", "wb") as file:
                    file.write(bytes(_MEBIBYTE))
            return f"{_TOO_MUCH_SCRATCH // _MEBIBYTE} MiB"

    return attempt(fill)


@tool(safety="read")
def line_085_one_large_file(canaries: Canaries) -> Attempt:
    """Make one file larger than scratch, by writing, by reserving, and by a hole."""

    def grow(how: Callable[[int], object]) -> str:
        descriptor = os.open("large", os.O_RDWR | os.O_CREAT)
        try:
            how(descriptor)
            return f"{os.fstat(descriptor).st_size // _MEBIBYTE} MiB"
        finally:
            os.close(descriptor)
            os.unlink("large")

    return attempts(
        {
            "write": lambda: grow(lambda one: [os.pwrite(one, b"x" * _MEBIBYTE, at << 20) for at in range(96)]),
            "reserve": lambda: grow(lambda one: os.posix_fallocate(one, 0, _TOO_MUCH_SCRATCH)),
            "hole": lambda: grow(lambda one: os.ftruncate(one, _TOO_MUCH_SCRATCH)),
        }
    )


@tool(safety="read")
def line_086_scratch_files(canaries: Canaries) -> Attempt:
    """Make more files than scratch has room for names."""

    def fill() -> str:
        folder = tempfile.mkdtemp(dir=".")
        try:
            for number in range(_TOO_MANY_FILES):
                os.close(os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY))
            return f"{_TOO_MANY_FILES} files"
        finally:
            shutil.rmtree(folder)

    return attempt(fill)


@tool(safety="read")
def line_087_descriptors(canaries: Canaries) -> Attempt:
    """Open more descriptors than a call may have."""
    return attempts(
        {
            "files": lambda: _opened(lambda: os.open("/dev/null", os.O_RDONLY)),
            "pipes": lambda: _opened(lambda: os.dup(0)),
        }
    )


def _opened(one: Callable[[], int]) -> str:
    held: list[int] = []
    try:
        while len(held) < _TOO_MANY_DESCRIPTORS:
            held.append(one())
        return f"{len(held)} open"
    finally:
        for descriptor in held:
            os.close(descriptor)


@tool(safety="read")
def line_092_packed_bomb(canaries: Canaries) -> Attempt:
    """Unpack a few kilobytes into more memory than a call may have."""
    packed = gzip.compress(bytes(8 * _MEBIBYTE)) * 50
    return attempt(lambda: f"{len(gzip.decompress(packed)) // _MEBIBYTE} MiB")


@tool(safety="read")
def line_092_archive_bomb(canaries: Canaries) -> Attempt:
    """Unpack an archive into more files' worth of scratch than there is."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(_TOO_MUCH_SCRATCH // (12 * _MEBIBYTE)):
            archive.writestr(f"{number}", bytes(12 * _MEBIBYTE))

    def unpack() -> str:
        with tempfile.TemporaryDirectory(dir=".") as folder:
            zipfile.ZipFile(packed).extractall(folder)
            return f"{_TOO_MUCH_SCRATCH // _MEBIBYTE} MiB"

    return attempt(unpack)


@tool(safety="read")
def line_094_kernel_objects(canaries: Canaries) -> Attempt:
    """Make objects that the kernel keeps by the user and not by the process."""
    closing: dict[str, Callable[[], int]] = {
        "inotify": lambda: system_call(_INOTIFY, 0),
        "timerfd": lambda: system_call(_TIMERFD, 1, 0),
        "signalfd": lambda: system_call(_SIGNALFD, -1, bytes(8), 8, 0),
    }
    return attempts(
        {name: partial(_made_and_closed, make) for name, make in closing.items()}
        | {
            "semaphore": lambda: system_call(_SEMCTL, system_call(_SEMGET, 0, 1, 0o1600), 0, 0, 0),
            "timer": lambda: system_call(_TIMER_CREATE, 1, None, ctypes.create_string_buffer(8)),
            "aio": lambda: system_call(_IO_SETUP, 1, ctypes.create_string_buffer(8)),
        }
    )


def _made_and_closed(make: Callable[[], int]) -> None:
    os.close(make())


@tool(safety="read")
def line_094_events_and_polls(canaries: Canaries) -> Attempt:
    """Make so many event counters and polls that somebody else gets none."""
    polls: list[select.epoll] = []

    def event() -> int:
        return system_call(_EVENTFD, 0, 0)

    def poll() -> int:
        polls.append(select.epoll())
        return os.dup(polls[-1].fileno())

    try:
        return attempts({"events": lambda: _opened(event), "polls": lambda: _opened(poll)})
    finally:
        for one in polls:
            one.close()
