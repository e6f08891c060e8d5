"""A tool that is a program: it gets the arguments on standard input, and its one JSON document is the reply.

Takes: an entry and a call's arguments.  Gives: exactly one frame.  Never: lets the program hold the channel, or takes
its word for more than what it wrote before it ended.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Mapping
from typing import Any, NoReturn

from ringfence.inside import wire
from ringfence.inside.faults import fault_body
from ringfence.inside.filters import alone
from ringfence.inside.layout import SCRATCH, Entry, Layout
from ringfence.kernel import limits, seccomp

_CHUNK = 65_536
_NOT_STARTED = 127
_OVER_CPU_STATUS = 128 + signal.SIGXCPU


def run_entry(entry: Entry, *, job: Mapping[str, Any], arguments: bytes, layout: Layout) -> bytes:
    """Start the program, hear it out, and say what it came to."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    given = _as_file(arguments)
    pid = os.fork()
    if pid == 0:
        _become(entry, stdin=given, stdout=writing, environment=_environment(job, layout))
    os.close(writing)
    os.close(given)
    said, problem = _heard(reading, pid=pid, most=layout.bounds.output_bytes)
    if problem is not None:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if problem is not None:
        return wire.pack(wire.Kind.FAULT, fault_body(*problem))
    if code == -signal.SIGXCPU:
        os._exit(_OVER_CPU_STATUS)
    if code != 0:
        return wire.pack(wire.Kind.FAULT, fault_body("tool_error", _ending(code)))
    return wire.pack(wire.Kind.OUTPUT, said)


def _as_file(arguments: bytes) -> int:
    """A file with no name that holds the arguments: nobody has to write while the program reads."""
    path = f"{SCRATCH}/.arguments"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.unlink(path)
    left = memoryview(arguments)
    while left:
        left = left[os.write(descriptor, left) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _environment(job: Mapping[str, Any], layout: Layout) -> dict[str, str]:
    """Secrets come first: a name of the jail's own is not the program's to give to one."""
    call = {f"RINGFENCE_{name.upper()}": str(job[name]) for name in ("agent", "session", "idempotency_key")}
    given: Mapping[str, Mapping[str, str]] = job.get("secrets") or {}
    secrets = {name: each.get("revealed", each["placeholder"]) for name, each in given.items()}
    return {**secrets, **dict(layout.environment), **call}


def _become(entry: Entry, *, stdin: int, stdout: int, environment: Mapping[str, str]) -> NoReturn:
    try:
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        limits.close_all_except((0, 1, 2))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        if entry.children == "refused":
            seccomp.install(alone())
        os.execve(entry.path, [entry.path], environment)  # noqa: S606  the tool is this program
    except OSError as failure:
        os.write(2, f"{entry.path}: {failure.strerror}\n".encode())
    finally:
        os._exit(_NOT_STARTED)


def _heard(reading: int, *, pid: int, most: int) -> tuple[bytes, tuple[str, str] | None]:
    """All that the program wrote until its end, or what is wrong with it."""
    said = bytearray()
    process = os.pidfd_open(pid)
    os.set_blocking(reading, False)
    ended = False
    while True:
        if not ended:
            ready, _, _ = select.select([reading, process], [], [])
            ended = process in ready
        try:
            piece = os.read(reading, _CHUNK)
        except BlockingIOError:
            if ended:
                return b"", ("protocol_error", "the program ended and something it started still holds its output")
            continue
        if not piece:
            return bytes(said), None
        said += piece
        if len(said) > most:
            return b"", ("output_limit", f"the output has more than {most} bytes")


def _ending(code: int) -> str:
    if code == _NOT_STARTED:
        return "the program could not be started, or ended with status 127"
    return (
        f"the program ended with {signal.Signals(-code).name}" if code < 0 else f"the program ended with status {code}"
    )
