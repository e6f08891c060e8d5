"""The fork server's memory, laid down once in a file that nobody can write to, under every process that is born of it.

Takes: the memory of a warm process with one thread.  Gives: the same memory, as a file that is mapped privately.
Never: changes what the process sees; where it cannot be done, all stays as it was, and a fork costs more.

A fork copies the entry of every page that a process ever wrote, and an exit gives each back: that was a quarter of
what a call cost. Pages of a file that were only read are not copied, and those that nobody touched are not there.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import socket
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ringfence.inside.inherited import Range, let_inherit
from ringfence.kernel import attempts, untouched
from ringfence.kernel.attempts import Attempt
from ringfence.kernel.syscalls import NUMBERS, call
from ringfence.kernel.unattended import FIXED, PAGE, PRIVATE, Stage, Words

# A mapping that the kernel or the running code needs where and as it is.
_LEFT_ALONE = frozenset({"[stack]", "[vvar]", "[vvar_vclock]", "[vdso]", "[vsyscall]"})
_MAPPING = re.compile(r"(?P<start>[0-9a-f]+)-(?P<end>[0-9a-f]+) (?P<rights>\S{4}) \S+ \S+ \S+ *(?P<name>.*)")
_RIGHTS = {"r": 1, "w": 2, "x": 4}
_WRITTEN = "Anonymous:"
# Below this a range has about as many pages as the kernel maps at once.
_WORTH_WATCHING = 64 * PAGE
_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
_MOST_MAPPINGS = 1024


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One mapping, with the rights it has and its place in the file."""

    start: int
    length: int
    rights: int
    offset: int

    @property
    def is_large(self) -> bool:
        return self.length >= _WORTH_WATCHING


@dataclass(frozen=True)
class Bedrock:
    """What was laid down; nothing, where nothing could be."""

    pieces: tuple[Piece, ...] = ()
    code: tuple[Range, ...] = ()

    def keep_out(self) -> list[int]:
        """Have this process map only what it touches, until the descriptor is closed; none where that cannot be had."""
        large = [(piece.start, piece.length) for piece in self.pieces if piece.is_large]
        try:
            return [untouched.keep_out((*large, *self.code))] if large else []
        except OSError:
            return []

    def hand_over(self, keeper: socket.socket) -> None:
        """The same for a process that will run a tool's code: somebody else holds the descriptor."""
        held = self.keep_out()
        socket.send_fds(keeper, [b"\1"], held)
        for descriptor in held:
            os.close(descriptor)


def kept_for(other: socket.socket) -> list[int]:
    """What a process that will run a tool's code handed over."""
    return socket.recv_fds(other, 1, 1)[1]


def begin_trial() -> Attempt:
    """Have a child lay down its own memory: whether it lives says whether this process would."""
    return attempts.begin(_lay_and_go_on, flags=0)


def lay(trial: Attempt) -> Bedrock:
    """Lay down this process's memory, if the child that did so lived; from then on it maps only what it touches."""
    if trial.end() is not None:
        return Bedrock()
    try:
        return _laid()
    except (OSError, ValueError):  # nothing is exchanged before all of it has room, in the file and on the stage
        return Bedrock()


def _lay_and_go_on() -> None:
    """Lay it, and use what stands on it: objects of before, and new ones."""
    before = json.dumps(sorted(os.environ))
    _laid()
    if json.dumps(sorted(os.environ)) != before or len([bytes(PAGE) for _ in range(PAGE)]) != PAGE:
        raise OSError("memory was not as it had been")


def _laid() -> Bedrock:
    descriptor = os.memfd_create("bedrock", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with Stage(most=3 * _MOST_MAPPINGS) as stage, _watcher() as watcher:
            pieces = tuple(_pieces(stage))
            _exchange(pieces, descriptor=descriptor, stage=stage, watcher=watcher)
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
            code = () if watcher is None else let_inherit(watcher)
    finally:
        os.close(descriptor)
    return Bedrock(pieces, code)


def _exchange(pieces: tuple[Piece, ...], *, descriptor: int, stage: Stage, watcher: int | None) -> None:
    calls: list[Words] = []
    registrations: list[ctypes.Array[ctypes.c_char]] = []
    for piece in pieces:
        write = (descriptor, piece.start, piece.length, piece.offset)
        # Once where it may fail, so that the file has room; then once more, when nothing changes any more.
        if call("pwrite64", *write) != piece.length:
            raise OSError("pwrite64: the file took less than the memory")
        calls.append(Words(NUMBERS["pwrite64"], write))
        mapped = (piece.start, piece.length, piece.rights, PRIVATE | FIXED, descriptor, piece.offset)
        calls.append(Words(NUMBERS["mmap"], mapped))
        if piece.is_large and watcher is not None:
            registrations.append(untouched.registration(piece.start, piece.length))
            register = (watcher, untouched.REGISTER, ctypes.addressof(registrations[-1]))
            calls.append(Words(NUMBERS["ioctl"], register))
    stage.make(calls)


@contextmanager
def _watcher() -> Generator[int | None]:
    """Open for as long as this process lives, unless nothing is laid down; none where there is none to be had."""
    try:
        watcher = untouched.watcher()
    except OSError:
        yield None
        return
    try:
        yield watcher
    except BaseException:
        os.close(watcher)
        raise


def _pieces(stage: Stage) -> Iterator[Piece]:
    """Every private mapping that was written to."""
    offset = 0
    with open("/proc/self/smaps", encoding="ascii", errors="replace") as lines:
        mapping: re.Match[str] | None = None
        for line in lines:
            mapping = _MAPPING.match(line) or mapping
            if mapping is None or not line.startswith(_WRITTEN) or line.split()[1] == "0":
                continue
            start, end = int(mapping["start"], 16), int(mapping["end"], 16)
            if mapping["rights"][3] != "p" or mapping["name"].strip() in _LEFT_ALONE or stage.holds(start):
                continue
            rights = sum(value for letter, value in _RIGHTS.items() if letter in mapping["rights"])
            yield Piece(start=start, length=end - start, rights=rights, offset=offset)
            offset += end - start
