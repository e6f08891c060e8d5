"""Hostile tools that run programs they were not given (lines 19 and 60 to 65)."""

from __future__ import annotations

import errno
import os
import struct
import subprocess
from functools import partial
from pathlib import Path

from ringfence import tool

from .attempt import Attempt, Canaries, attempts, system_call  # noqa: TID252  a jail imports this as `probes.programs`

_EXECVE, _MEMFD_CREATE, _EXECVEAT = 59, 319, 322
_AT_EMPTY_PATH = 0x1000
_BAD_ADDRESS = 1
_ID = "/usr/bin/id"
_LOADER = "/lib64/ld-linux-x86-64.so.2"
# Exits with 42; entry at 0x400078, one loadable segment.
_PROGRAM = (
    b"\x7fELF\x02\x01\x01" + bytes(9)
    + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 0x84, 0x84, 0x1000)
    + b"\xb8\x3c\x00\x00\x00\xbf\x2a\x00\x00\x00\x0f\x05"
)  # fmt: skip


def _spawn(*argv: str, executable: str | None = None) -> str:
    """Start a program in a child; what it says, or the status it ends with."""
    done = subprocess.run(argv, executable=executable, capture_output=True, text=True, check=False)
    return f"{done.returncode} {done.stdout[:20]!r}"


def _execute_here(path: str) -> int:
    """Execute in place, with arguments that the kernel reads only after it has agreed to execute the file."""
    return system_call(_EXECVE, path.encode(), _BAD_ADDRESS, None)


def _executed(path: str) -> Attempt:
    return attempts({"child": lambda: _spawn(path), "in_place": lambda: _execute_here(path)}, reached=(errno.EFAULT,))


@tool(safety="read")
def line_019_setuid_program(canaries: Canaries) -> Attempt:
    """Run a program that makes its runner its owner, root where root set it out."""

    def run() -> str:
        done = subprocess.run([canaries.setuid_program, "-u"], capture_output=True, text=True, check=False)
        if done.stdout.strip() != str(os.stat(canaries.setuid_program).st_uid):
            raise PermissionError(errno.EPERM, f"it ran as {done.stdout}")
        return "it ran as its owner"

    return attempts({"child": run, "in_place": lambda: _execute_here(canaries.setuid_program)}, reached=(errno.EFAULT,))


@tool(safety="read")
def line_060_unlisted_program(canaries: Canaries) -> Attempt:
    """Run a program of the machine."""
    return _executed(_ID)


@tool(safety="read")
def line_061_own_program(canaries: Canaries) -> Attempt:
    """Write a program to scratch and run it."""
    Path("program").write_bytes(_PROGRAM)
    os.chmod("program", 0o755)
    return _executed(os.path.abspath("program"))


@tool(safety="read")
def line_062_loader(canaries: Canaries) -> Attempt:
    """Have the loader run a program."""
    return attempts(
        {"child": lambda: _spawn(_LOADER, _ID), "in_place": lambda: _execute_here(_LOADER)}, reached=(errno.EFAULT,)
    )


@tool(safety="read")
def line_063_program_in_memory(canaries: Canaries) -> Attempt:
    """Run a program that no file system holds, by its descriptor."""

    def in_memory() -> int:
        descriptor = system_call(_MEMFD_CREATE, b"x", 0)
        os.write(descriptor, _PROGRAM)
        return descriptor

    def in_scratch() -> int:
        Path("program").write_bytes(_PROGRAM)
        os.chmod("program", 0o755)
        return os.open("program", os.O_RDONLY)

    def execute(descriptor: int) -> int:
        return system_call(_EXECVEAT, descriptor, b"", _BAD_ADDRESS, None, _AT_EMPTY_PATH)

    return attempts(
        {
            "memory": lambda: execute(in_memory()),
            "descriptor": lambda: execute(in_scratch()),
            "magic_link": lambda: _execute_here(f"/proc/self/fd/{in_scratch()}"),
        },
        reached=(errno.EFAULT,),
    )


@tool(safety="read")
def line_064_script(canaries: Canaries) -> Attempt:
    """Write a script to scratch and run it."""
    Path("script").write_text("#!/bin/sh\nexit 42\n", encoding="ascii")
    os.chmod("script", 0o755)
    return _executed(os.path.abspath("script"))


@tool(safety="read")
def line_065_other_names(canaries: Canaries) -> Attempt:
    """Run a program by names that are not its own."""
    os.symlink(_ID, "alias")
    names = (f"/proc/self/root{_ID}", "/usr/bin/../bin/id", os.path.abspath("alias"))
    return attempts({name: partial(_execute_here, name) for name in names}, reached=(errno.EFAULT,))
