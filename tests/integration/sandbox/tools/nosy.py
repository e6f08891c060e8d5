"""Tools that look for what another call left behind, and for what lies outside."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import random
import socket
import ssl
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from ringfence import tool

_left: list[str] = []
# An installation that lies under /tmp is bound there again, so the way to it can be seen.
_INSTALLED = {Path(place).parts[2] for place in (*sys.path, sys.prefix) if place.startswith("/tmp/")}


def _scratch() -> list[str]:
    return sorted(set(os.listdir("/tmp")) - _INSTALLED)


def _told(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError as failure:
        return errno.errorcode[failure.errno or 0]
    return "done"


@tool(safety="read")
def remember(word: str) -> list[str]:
    """Keep a word in memory, in /tmp, in the environment, in a module; say what was there before."""
    before = list(_left)
    for name in _scratch():
        before.append(f"{name}={Path('/tmp', name).read_text()}")
    before.append(os.environ.get("LEFT", ""))
    before.append(str(getattr(sys, "left_behind", "")))
    _left.append(word)
    Path("/tmp/left").write_text(word)
    os.environ["LEFT"] = word
    sys.left_behind = word  # type: ignore[attr-defined]
    return before


@tool(safety="read")
def chance() -> list[str]:
    """Random bytes from every usual source."""
    return [
        os.urandom(8).hex(),
        ssl.RAND_bytes(8).hex(),
        str(random.random()),
        str(random.SystemRandom().random()),
        str(uuid.uuid4()),
        str(uuid.uuid1().node) + str(uuid.uuid1()),
    ]


@tool(safety="read")
def surroundings() -> dict[str, list[str]]:
    """Everything a process can see of itself and its neighbours."""
    return {
        "descriptors": sorted(name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")),
        "environment": sorted(f"{name}={value}" for name, value in os.environ.items()),
        "initial environment": [_told(lambda: Path("/proc/self/environ").read_text())],
        "processes": [name for name in os.listdir("/proc") if name.isdigit()],
        "scratch": _scratch(),
        "ids": [str(os.getpid()), str(os.getppid()), str(os.getuid()), str(os.getgid()), str(os.getgroups())],
        "path": list(sys.path),
        "tool": sorted(os.listdir("/tool")),
        "host": [os.uname().nodename, os.getcwd()],
    }


@tool(safety="read")
def exists(paths: list[str]) -> list[bool]:
    """Which paths are there."""
    return [os.path.lexists(path) for path in paths]


@tool(safety="read")
def tries() -> dict[str, str]:
    """What the kernel says to each of these."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(number: int, *arguments: int) -> None:
        if libc.syscall(ctypes.c_long(number), *(ctypes.c_long(argument) for argument in arguments)) < 0:
            raise OSError(ctypes.get_errno(), "call")

    return {
        "shared memory": _told(lambda: mmap.mmap(-1, 4096)),
        "private memory": _told(lambda: mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)),
        "socket": _told(lambda: socket.create_connection(("127.0.0.1", 80), timeout=1)),
        "fork": _told(lambda: os.fork()),
        "run": _told(lambda: subprocess.run(["/usr/bin/true"], check=False)),
        "write outside": _told(lambda: Path("/usr/lib/x").write_text("x")),
        "write the source": _told(lambda: Path("/tool/x").write_text("x")),
        "write inside": _told(lambda: Path("/tmp/x").write_text("x")),
        "landlock rule": _told(lambda: call(445, 5, 1, 0, 0)),
        "landlock set": _told(lambda: call(444, 0, 0, 1)),
        "seccomp": _told(lambda: call(317, 1, 0, 0)),
        "setns": _told(lambda: call(308, 3, 0)),
        "kill all": _told(lambda: os.kill(-1, 9)),
        "kill parent": _told(lambda: os.kill(os.getppid() or 4, 9)),
    }


@tool(safety="read")
def threads(wanted: int) -> int:
    """How many threads can be alive at once."""
    gate, alive = threading.Event(), 0
    threading.stack_size(65_536)
    try:
        for _ in range(wanted):
            threading.Thread(target=gate.wait, daemon=True).start()
            alive += 1
    except RuntimeError:
        return alive
    finally:
        gate.set()
    return alive


@tool(safety="read")
def hold_threads(wanted: int, seconds: float) -> int:
    """Keep as many threads alive as can be, for a while."""
    gate, alive = threading.Event(), 0
    threading.stack_size(65_536)
    try:
        for _ in range(wanted):
            threading.Thread(target=gate.wait, daemon=True).start()
            alive += 1
    except RuntimeError:
        pass
    time.sleep(seconds)
    return alive
