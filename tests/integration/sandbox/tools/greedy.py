"""Tools that use more than they may."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from ringfence import tool


@tool(safety="read")
def spin() -> int:
    """Use CPU time for ever."""
    while True:
        pass


@tool(safety="read")
def spin_stubbornly() -> int:
    """Use CPU time for ever, and ignore what can be ignored."""
    import signal

    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while True:
        pass


@tool(safety="read")
def sleep() -> int:
    """Wait for ever."""
    time.sleep(3600)
    return 1


@tool(safety="read")
def swallow_memory() -> int:
    """Take memory until there is none."""
    kept: list[bytearray] = []
    while True:
        kept.append(bytearray(8 << 20))


@tool(safety="read")
def fill_the_disk() -> int:
    """Write until nothing more fits."""
    with open("/tmp/full", "wb") as file:
        while True:
            file.write(b"x" * (1 << 20))


@tool(safety="read")
def fill_with_many() -> int:
    """Make files until no more fit."""
    number = 0
    while True:
        Path(f"/tmp/{number}").touch()
        number += 1


@tool(safety="read")
def start_threads() -> int:
    """Start threads until no more start."""
    threading.stack_size(65_536)
    gate = threading.Event()
    while True:
        threading.Thread(target=gate.wait, daemon=True).start()


@tool(safety="read")
def open_files() -> int:
    """Open files until no more open."""
    kept: list[int] = []
    try:
        while True:
            kept.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        return len(kept)


@tool(safety="read")
def return_much(kilobytes: int) -> str:
    """Return a long text."""
    return "x" * (kilobytes * 1024)


@tool(safety="read")
def print_much(kilobytes: int) -> str:
    """Print a long text."""
    for _ in range(kilobytes):
        sys.stdout.write("x" * 1024)
    return "done"


@tool(safety="read")
def print_for_ever() -> str:
    """Print without an end."""
    while True:
        os.write(2, b"x" * 65_536)
