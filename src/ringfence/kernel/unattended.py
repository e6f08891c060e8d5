"""System calls that follow each other while nothing else of this process runs: no line of Python, no allocation.

Takes: calls as numbers.  Gives: nothing; what they answered is not kept.  Never: stops at one that fails, so they are
only for calls that were seen to work.

Each call is the whole life of a context of libc's (makecontext(3)), which hands over to the next. Python touches the
memory it stands on with every step; whoever exchanges that memory must not let it take one in between.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from types import TracebackType
from typing import Literal, NamedTuple

from ringfence.kernel.syscalls import call

READ, WRITE = 1, 2
PRIVATE, FIXED, ANONYMOUS = 0x02, 0x10, 0x20
PAGE = 4096
_NO_ACCESS = 0
_ANYWHERE = 0
_NO_FILE = -1
_WORDS = 7
# A context is kept at the start of its page, and has the rest of the page as its stack.
_STACK_AT = PAGE // 2
# Where makecontext(3) keeps the second and third argument of a function, which are the first two of its system call.
_ARGUMENTS_AT = (112, 136)


class _Context(ctypes.Structure):
    """The beginning of `ucontext_t` on x86_64: all of it that makecontext(3) leaves to the caller."""

    _fields_ = (
        ("flags", ctypes.c_ulong),
        ("next", ctypes.c_void_p),
        ("stack", ctypes.c_void_p),
        ("stack_flags", ctypes.c_int),
        ("stack_size", ctypes.c_size_t),
    )


class Words(NamedTuple):
    """One call: its number and its arguments."""

    number: int
    arguments: tuple[int, ...]


class Stage:
    """Memory for so many calls, with a gap on both sides so that it is a mapping of its own."""

    def __init__(self, *, most: int) -> None:
        self._pages = most + 1
        self._length = (self._pages + 2) * PAGE
        self.start = call("mmap", _ANYWHERE, self._length, _NO_ACCESS, PRIVATE | ANONYMOUS, _NO_FILE, 0)
        self._first = self.start + PAGE
        call("mprotect", self._first, self._pages * PAGE, READ | WRITE)
        self._libc = ctypes.CDLL(None)

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        call("munmap", self.start, self._length)

    def holds(self, address: int) -> bool:
        return self.start <= address < self.start + self._length

    def argument_at(self, number: int, argument: Literal[0, 1]) -> int:
        """Where an argument of a call is kept until that call is made: an earlier one can have it written there."""
        return self._first + number * PAGE + _ARGUMENTS_AT[argument]

    def make(self, calls: Sequence[Words]) -> None:
        """Make all of them; this returns after the last."""
        if len(calls) >= self._pages:
            raise ValueError(f"{len(calls)} calls, and memory for {self._pages - 1}")
        back = self._first + len(calls) * PAGE
        for number, words in enumerate(calls):
            self._prepare(self._first + number * PAGE, words)
        self._libc.swapcontext(ctypes.c_void_p(back), ctypes.c_void_p(self._first))

    def _prepare(self, address: int, words: Words) -> None:
        place = ctypes.c_void_p(address)
        self._libc.getcontext(place)
        context = _Context.from_address(address)
        context.next = address + PAGE  # after the last call stands where this began
        context.stack = address + _STACK_AT
        context.stack_size = PAGE - _STACK_AT
        padded = (words.number, *words.arguments, *(0,) * (_WORDS - 1 - len(words.arguments)))
        function = ctypes.cast(self._libc.syscall, ctypes.c_void_p)
        self._libc.makecontext(place, function, _WORDS, *map(ctypes.c_ulong, padded))
