"""The hostile tools of lines 19 and 60 to 82 once more, each with programs listed for it, and some that need them."""

from __future__ import annotations

import errno
import functools
import io
import os
import shutil
import signal
import struct
import subprocess
import tarfile

from ringfence import Processes, Tool, tool

from . import process, programs  # noqa: TID252  a jail imports this as `probes.granted_processes`
from .attempt import Attempt, Canaries, attempts, clone, system_call  # noqa: TID252

SUFFIX = "_with_processes"
NEEDS = [Processes("wc", "sh", "tar", "find", "cat")]
_LOADER = "/lib64/ld-linux-x86-64.so.2"
_ID = "/usr/bin/id"
_CLONE, _CLONE3 = 56, 435
_ALONE_IN_A_JAIL = 1
# A shell starts others by fork, a loader maps what it is told to, a child inherits: these are what a list gives.
GIVEN = frozenset({"line_062_loader", "line_070_daemon", "line_080_other_ways_to_clone", "line_081_zombies"})


def _with_programs(declared: Tool) -> Tool:
    implementation = declared.implementation
    assert implementation is not None
    again = functools.wraps(implementation.function)(functools.partial(implementation.function))
    again.__name__ = declared.name
    return tool(safety="write", idempotency="optional", needs=NEEDS, name=f"{declared.name}{SUFFIX}")(again)


AGAIN = {
    name + SUFFIX: _with_programs(declared)
    for module in (process, programs)
    for name, declared in vars(module).items()
    if isinstance(declared, Tool) and name not in GIVEN
}
globals().update(AGAIN)


def _says_a_number(*argv: str, **variables: str) -> str:
    """Run a program that is to tell a user's number; an error where it did not."""
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, env={**os.environ, **variables}, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0 or not done.stdout.strip().isdigit():
        raise PermissionError(errno.EACCES, done.stderr[:100])
    return done.stdout.strip()


def _stolen(path: str) -> str:
    copy = os.path.abspath(f"copy-{os.path.basename(path)}")
    shutil.copyfile(path, copy)
    os.chmod(copy, 0o755)
    return copy


@tool(safety="write", idempotency="optional", needs=NEEDS)
def line_062_loader_runs_another_with_processes(canaries: Canaries) -> Attempt:
    """Have the loader run what is not listed: from its place, from scratch, and by a copy of the loader itself."""
    return attempts(
        {
            "in_place": lambda: _says_a_number(_LOADER, _ID, "-u"),
            "copied": lambda: _says_a_number(_LOADER, _stolen("/usr/bin/wc"), "-c"),
            "own_loader": lambda: _says_a_number(_stolen(_LOADER), "/usr/bin/wc", "-c"),
            "in_a_library": lambda: _loads(_program_below("/usr/lib/x86_64-linux-gnu")),
            "beside_the_libraries": lambda: _loads(_program_below("/usr/lib", less="x86_64-linux-gnu")),
        }
    )


def _loads(path: str) -> str:
    """Ask the loader whether it would run a program."""
    done = subprocess.run([_LOADER, "--verify", path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PermissionError(errno.EACCES, done.stderr[:100])
    return "it would"


def _program_below(place: str, *, less: str = "") -> str:
    """A program below a folder that was not listed; where there is none, one that was not listed either."""
    for folder, inner, names in os.walk(place):
        inner[:] = sorted(name for name in inner if name != less)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if ".so" not in name and os.access(path, os.X_OK) and not os.path.islink(path) and _is_a_program(path):
                return path
    return _ID


def _is_a_program(path: str) -> bool:
    """Whether the loader could run it: an ELF file that names the loader."""
    with open(path, "rb") as file:
        head = file.read(4_096)
    return head.startswith(b"\x7fELF") and _LOADER.encode() in head


def _a_listed_program() -> str:
    """The listed file; outside a jail a copy that its control names, and never the machine's own."""
    if os.getpid() == _ALONE_IN_A_JAIL:
        return os.path.realpath("/usr/bin/wc")
    return os.environ["A_COPY_OF_WC"]


@tool(safety="write", idempotency="optional", needs=NEEDS)
def line_066_replace_a_listed_program_with_processes(canaries: Canaries) -> Attempt:
    """Change what a listed name runs, in place, by a rename and by a link."""
    listed = _a_listed_program()
    mine = _stolen(listed)

    def write() -> None:
        os.close(os.open(listed, os.O_WRONLY))

    return attempts(
        {
            "write": write,
            "cut": lambda: os.truncate(listed, os.stat(listed).st_size),
            "permit": lambda: os.chmod(listed, 0o755),
            "link": lambda: os.link(mine, f"{listed}-2"),
            "rename": lambda: os.rename(mine, listed),
            "remove": lambda: os.unlink(listed),
        }
    )


@tool(safety="write", idempotency="optional", needs=NEEDS)
def line_067_dangerous_arguments_with_processes(canaries: Canaries) -> Attempt:
    """Have listed programs start another: by a shell, by find, by tar, by what a script says of itself."""
    with tarfile.open("one.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("member"), io.BytesIO())
    with open("script", "w", encoding="ascii") as script:
        script.write("#!/usr/bin/printf 7\n")
    os.chmod("script", 0o755)
    return attempts(
        {
            "shell": lambda: _says_a_number("sh", "-c", f"{_ID} -u"),
            "find": lambda: _says_a_number("find", ".", "-maxdepth", "0", "-exec", _ID, "-u", ";"),
            "tar": lambda: _says_a_number("tar", "xf", "one.tar", f"--to-command={_ID} -u"),
            "script": lambda: _says_a_number("sh", "-c", "./script"),
        }
    )


@tool(safety="write", idempotency="optional", needs=NEEDS)
def line_067_preloaded_library_with_processes(canaries: Canaries) -> Attempt:
    """Have the loader put a library of the tool's own into a listed program."""
    own = _stolen(os.path.realpath("/lib/x86_64-linux-gnu/libm.so.6"))

    def load(**variables: str) -> str:
        done = subprocess.run(
            ["wc", "--version"], capture_output=True, text=True, check=False, env={**os.environ, **variables}
        )
        if done.returncode != 0 or "cannot be preloaded" in done.stderr:
            raise PermissionError(errno.EACCES, "it was not loaded")
        return "loaded"

    return attempts({"preload": lambda: load(LD_PRELOAD=own), "audit": lambda: load(LD_PRELOAD=f"{own}:{own}")})


@tool(safety="write", idempotency="optional", needs=NEEDS)
def line_080_children_apart_with_processes(canaries: Canaries) -> Attempt:
    """Make a child with another parent, another namespace, a tracer, or outside the control group."""
    into_group = struct.pack("11Q", 0x2_0000_0000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 1 << 31)
    return attempts(
        {
            "parent": lambda: clone(_CLONE, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0),
            "user": lambda: clone(_CLONE, 0x1000_0000 | signal.SIGCHLD, 0, 0, 0, 0),
            "traced": lambda: clone(_CLONE, 0x2000 | signal.SIGCHLD, 0, 0, 0, 0),
            "into_group": lambda: system_call(_CLONE3, into_group, 88),
        },
        reached=(errno.EINVAL, errno.EBADF, errno.ECHILD),
    )
