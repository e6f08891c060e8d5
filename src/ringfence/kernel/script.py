"""System calls that are written down once and made in many children, where nothing is left to work out.

Takes: code that makes calls by name, run once while none is really made.  Gives: those calls as numbers, with the
answer that each will have.  Never: goes on after an answer that was not foreseen.

A child that runs the code itself writes to a page for every function, name and number on its way, and every page that
it writes to becomes its own. Here the way is one loop.
"""

from __future__ import annotations

import ctypes
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from ringfence.kernel import syscalls
from ringfence.kernel.message import Message
from ringfence.kernel.syscalls import Argument, failed, made

_OPENING = frozenset({"openat", "landlock_create_ruleset", "socket"})
# What answers nothing but that it was done; a call that is in neither list is not written down.
_DOING = frozenset(
    {
        "bind", "capset", "chdir", "close", "close_range", "exit_group", "landlock_add_rule", "landlock_restrict_self",
        "listen", "mkdir", "mount", "prctl", "prlimit64", "seccomp", "setsockopt",
    }
)  # fmt: skip


class Step(NamedTuple):
    """One call: the words that the kernel gets, and what it has to answer."""

    words: tuple[int, ...]
    answer: int

    @property
    def name(self) -> str:
        """What the call is; only for whoever asks, since a name in every step is a page for every name."""
        return syscalls.name_of(self.words[0])


class Script:
    """Calls in order, and the memory that they point to."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._memory: list[object] = []

    def play(self) -> None:
        """Make every call; one that is not answered as foreseen ends it."""
        for words, foreseen in self.steps:
            answer = made(*words)
            if answer != foreseen:
                raise failed(syscalls.name_of(words[0]), answer=answer)

    def point_to(self, argument: Argument) -> int:
        """The word for an argument; what it points to is kept as it is now."""
        if argument is None or isinstance(argument, int):
            return argument or 0
        if isinstance(argument, Message):
            self._memory.append(argument)
            return argument.address
        kept = ctypes.create_string_buffer(bytes(argument))
        self._memory.append(kept)
        return ctypes.addressof(kept)


class _Scribe:
    """Writes calls down, and answers as the kernel would: a new descriptor is the lowest that is free."""

    def __init__(self, script: Script, *, open_below: int) -> None:
        self._script = script
        self._open = set(range(open_below))

    def call(self, name: str, arguments: tuple[Argument, ...]) -> int:
        answer = self._foreseen(name, arguments)
        words = syscalls.words_of(name, *map(self._script.point_to, arguments))
        self._script.steps.append(Step(words, answer))
        return answer

    def _foreseen(self, name: str, arguments: tuple[Argument, ...]) -> int:
        match name, arguments:
            case "write" | "sendto", (_, _, int(length), *_):
                return length
            # Asked for its whole length, a message is the one that was made room for, or another.
            case "recvfrom", (_, _, int(length), socket.MSG_TRUNC, *_):
                return length
            case "sendmsg", (_, Message() as message, _):
                return message.length
            case "dup2", (_, int(to)):
                self._open.add(to)
                return to
            case "close", (int(descriptor),):
                self._open.discard(descriptor)
            case "close_range", (int(first), int(last), _):
                self._open -= set(range(first, min(last, max(self._open)) + 1))
            case _ if name in _OPENING:
                descriptor = min(set(range(len(self._open) + 1)) - self._open)
                self._open.add(descriptor)
                return descriptor
            case _ if name not in _DOING:
                raise ValueError(f"nobody can foresee what `{name}` will answer")
            case _:
                pass
        return 0


@contextmanager
def written_down(*, open_below: int) -> Generator[Script]:
    """While this is open, calls are written down and not made, for a process whose descriptors are all below a number.

    Preconditions: the caller has one thread, and nothing in here asks the kernel by another way than by `call`.
    """
    script = Script()
    with syscalls.answered_by(_Scribe(script, open_below=open_below)):
        yield script
