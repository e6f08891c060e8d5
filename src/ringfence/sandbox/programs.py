"""Which files a `Processes` grant names on this machine: each known by its identity, with the loader it needs.

Takes: names or paths of binaries.  Gives: `Program` values for a blueprint, or a refusal.
Never: lets a script in without its interpreter, or a program that the call itself could change.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from ringfence.contract.capabilities import Processes
from ringfence.contract.interpreters import interpreter
from ringfence.contract.safety import Safety
from ringfence.errors import CallRefused
from ringfence.inside.layout import SCRATCH, Granted, Program, identity_of
from ringfence.kernel.beneath import HERE, PLAIN_NAMES, open_at
from ringfence.sandbox.elf import HEAD_BYTES, Head, read_head

SEARCHED = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")


def resolve_programs(processes: Processes, *, granted: Sequence[Granted], safety: Safety) -> tuple[Program, ...]:
    """Every listed binary as a file."""
    found = [_found(name) for name in processes.binaries]
    files = {program.path for program, _ in found}
    for program, head in found:
        _require_interpreter(program, head, files=files)
        require_unchangeable(program, granted)
        reason = interpreter(program.path) or interpreter(program.name)
        if safety is Safety.READ and reason is not None:
            message = f"binary `{program.name}` {reason}, so a tool that lists it is at least of class `write`"
            raise CallRefused(message, code="binary_not_allowed", remedy='declare the tool with `safety="write"`')
    return tuple(program for program, _ in found)


def own_programs(head: Head) -> tuple[Program, ...]:
    """What a tool's own script is read by; `env` is followed to what it starts."""
    if not head.script:
        return ()
    first, *rest = head.script
    words = " ".join(rest).split()
    names = [first, *(word for word in words[:2] if os.path.basename(first) == "env" and not word.startswith("-"))]
    return tuple(_found(name)[0] for name in names[:2])


def _found(name: str) -> tuple[Program, Head]:
    place = _place(name)
    if place is None:
        listed = ", ".join(f"`{folder}`" for folder in SEARCHED)
        where = "" if name.startswith("/") else f" in {listed}"
        raise CallRefused(f"binary `{name}` is not found{where}", code="not_available")
    real = os.path.realpath(place)
    descriptor = open_at(HERE, real, flags=os.O_RDONLY | os.O_NONBLOCK, resolve=PLAIN_NAMES)
    try:
        seen = os.fstat(descriptor)
        head = read_head(os.pread(descriptor, HEAD_BYTES, 0)) if stat.S_ISREG(seen.st_mode) else Head(program=False)
    finally:
        os.close(descriptor)
    if not head.program or not seen.st_mode & 0o111:
        raise CallRefused(f"binary `{name}` is not a program", code="not_available")
    return (
        Program(
            name=name,
            place=place,
            path=real,
            loader=None if head.loader is None else os.path.realpath(head.loader),
            identity=identity_of(seen),
            changed=str(seen.st_ctime_ns),
        ),
        head,
    )


def _place(name: str) -> str | None:
    candidates = [name] if name.startswith("/") else [f"{folder}/{name}" for folder in SEARCHED]
    found = next((each for each in candidates if os.path.isfile(each)), None)
    return None if found is None else os.path.join(os.path.realpath(os.path.dirname(found)), os.path.basename(found))


def _require_interpreter(program: Program, head: Head, *, files: Iterable[str]) -> None:
    """The kernel runs a script by its interpreter, which is a program like any other."""
    if head.script and os.path.realpath(head.script[0]) not in files:
        message = f"binary `{program.name}` is a script for `{head.script[0]}`, which is not listed"
        raise CallRefused(message, code="binary_not_allowed", remedy="list the script's interpreter too")


def require_unchangeable(program: Program, granted: Sequence[Granted]) -> None:
    """Refuse a program, or a library of one, that the call itself could write."""
    path = PurePosixPath(program.path)
    writable = [each.source for each in granted if each.access == "write"]
    if path.is_relative_to(SCRATCH) or any(path.is_relative_to(place) for place in writable):
        message = f"binary `{program.name}` lies where the call could write it"
        raise CallRefused(message, code="binary_not_allowed", remedy="list a program outside the agent's folders")
