"""What a hostile tool is told and what it answers, and short ways to try one thing or several.

Takes: functions that try.  Gives: `Attempt`.  Never: counts a refusal as a success, or an unknown answer as a refusal.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Collection, Mapping
from typing import Literal

from pydantic import BaseModel

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class Canaries(BaseModel):
    """Where the things are that no tool may reach.

    Scratch is the current folder. The launcher leaks three descriptors: 9 is the secret, 10 the machine's root folder,
    11 an io_uring. `secret_backwards` lets a tool recognise the secret without being told it.
    """

    secret_file: str
    secret_backwards: str
    environment_name: str
    launcher_pid: int
    tcp_port: int
    udp_port: int
    unix_socket: str
    abstract_socket: str
    shared_memory_id: int
    shared_memory_file: str
    setuid_program: str
    devices: list[str]
    kernel_files: list[str]
    kernel_settings: list[str]
    usual_places: list[str]


class Attempt(BaseModel):
    """`succeeded` if any part of the try did what it wanted."""

    outcome: Literal["stopped", "succeeded"]
    detail: str


def read_secret(path: str, canaries: Canaries) -> str:
    """Open and read; the canary's own text back is the success."""
    with open(path, encoding="utf-8") as file:
        return recognise(file.read(), canaries)


def read_something(path: str) -> str:
    """Open and read; an empty file put over the real one is no success."""
    with open(path, "rb") as file:
        size = len(file.read())
    if size == 0:
        raise OSError(errno.ENODATA, "nothing is there")
    return f"{size} bytes"


def recognise(text: str, canaries: Canaries) -> str:
    """The name of the canary if the text holds it; an error where it does not, so that nothing else passes for it."""
    if canaries.secret_backwards[::-1] not in text:
        raise OSError(errno.ENODATA, "something else is there")
    return "the canary"


def attempt(act: Callable[[], object], *, reached: Collection[int] = ()) -> Attempt:
    """One try; `reached` lists the errors that only a kernel gives which looked at the arguments."""
    answer = _answer(act, reached)
    return Attempt(outcome="stopped" if _refused(answer) else "succeeded", detail=answer)


def attempts(tries: Mapping[str, Callable[[], object]], *, reached: Collection[int] = ()) -> Attempt:
    """Several tries of one kind; the detail has one `name=answer` for each."""
    answers = {name: _answer(act, reached) for name, act in tries.items()}
    stopped = all(map(_refused, answers.values()))
    detail = " ".join(f"{name}={answer}" for name, answer in answers.items())
    return Attempt(outcome="stopped" if stopped else "succeeded", detail=detail)


def system_call(number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """A raw system call; OSError with the kernel's errno."""
    registers = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    answer: int = _libc.syscall(ctypes.c_long(number), *registers)
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


def clone(number: int, *arguments: int | bytes, then: Literal["wait", "leave"] = "wait") -> str:
    """A child by a bare call; it ends at once, and who leaves it does not wait for that."""
    # PyDLL keeps the interpreter lock, so that the child has it too.
    bare = ctypes.PyDLL(None, use_errno=True).syscall
    bare.restype = ctypes.c_long
    pid: int = bare(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    if pid == 0:
        os._exit(0)
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone")
    if then == "wait":
        os.waitpid(pid, 0)
    return "a child"


def _answer(act: Callable[[], object], reached: Collection[int]) -> str:
    try:
        got = act()
    except OSError as failure:
        name = errno.errorcode.get(failure.errno or 0, f"errno-{failure.errno}")
        return f"done-{name.lower()}" if failure.errno in reached else name
    return f"done {got}"[:200] if got is not None else "done"


def _refused(answer: str) -> bool:
    return not answer.startswith("done")
