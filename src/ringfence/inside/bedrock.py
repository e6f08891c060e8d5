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
import socket
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ringfence.inside.inherited import Range, code_in, let_inherit
from ringfence.inside.mapped import LARGE, RUN, Mapping, mappings
from ringfence.kernel import attempts, untouched
from ringfence.kernel.attempts import Attempt
from ringfence.kernel.syscalls import NUMBERS, call
from ringfence.kernel.unattended import FIXED, PAGE, PRIVATE, READ, WRITE, Stage, Words

# A mapping that the kernel or the running code needs where and as it is.
_LEFT_ALONE = frozenset({"[stack]", "[vvar]", "[vvar_vclock]", "[vdso]", "[vsyscall]"})
_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
_MOST_MAPPINGS = 1024
_ANYWHERE = 0
# What was worked with: to give it back is to write to it, and every child would inherit those pages as well.
_KEPT: list[object] = []


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One mapping, with the rights it has and its place in the file."""

    start: int
    length: int
    rights: int
    offset: int

    @property
    def is_large(self) -> bool:
        return self.length >= LARGE


@dataclass(frozen=True)
class Bedrock:
    """What was laid down; nothing, where nothing could be."""

    pieces: tuple[Piece, ...] = ()
    code: tuple[Range, ...] = ()
    again: int = 0  # where all of it is mapped a second time, for whoever compares

    def forget(self) -> None:
        """Have what was laid down only where it is used."""
        call("munmap", self.again, _length(self.pieces))

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
            # All that is worked out is worked out before: what is written after it is copied by every child.
            mapped = mappings()
            pieces, code = tuple(_pieces(mapped, stage)), tuple(code_in(mapped))
            _KEPT.extend((mapped, _exchange(pieces, descriptor=descriptor, stage=stage, watcher=watcher)))
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
            again = call("mmap", _ANYWHERE, _length(pieces), READ, PRIVATE, descriptor, 0)
            if watcher is None or not let_inherit(code, watcher=watcher):
                code = ()
    finally:
        os.close(descriptor)
    return Bedrock(pieces, code, again)


def _length(pieces: Sequence[Piece]) -> int:
    return pieces[-1].offset + pieces[-1].length


def _exchange(pieces: tuple[Piece, ...], *, descriptor: int, stage: Stage, watcher: int | None) -> object:
    """Lay the pieces down; gives what it worked with."""
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
    return calls, registrations


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


def _pieces(mapped: Sequence[Mapping], stage: Stage) -> Iterator[Piece]:
    """Every private mapping that was written to, and the rest of each small library; neighbours are one piece."""
    piece: Piece | None = None
    for mapping in mapped:
        rights = 0 if mapping.name in _LEFT_ALONE or stage.holds(mapping.start) else _laid_rights(mapping)
        if not rights:
            continue
        if piece is not None and (piece.start + piece.length, piece.rights) == (mapping.start, rights):
            piece = replace(piece, length=piece.length + mapping.length)
            continue
        if piece is not None:
            yield piece
        offset = 0 if piece is None else piece.offset + piece.length
        piece = Piece(start=mapping.start, length=mapping.length, rights=rights, offset=offset)
    if piece is not None:
        yield piece


def _laid_rights(mapping: Mapping) -> int:
    """The rights that it is mapped with again; none if it stays as it is.

    What of a small library cannot be written to becomes one mapping: a fork and an exit take a microsecond for each,
    and there are five in every library. Its tables can then be run like its code, and be changed as little as before.
    """
    if not mapping.is_private:
        return 0
    if mapping.of_small_library and not mapping.rights & WRITE:
        return READ | RUN
    return mapping.rights if mapping.written else 0
