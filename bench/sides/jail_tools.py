"""The tools that the jail benches call: nothing, a write, and some work to compare inside with outside.

Takes: nothing.  Gives: how long the work took, by the tool's own clock.  Never: needs anything.
"""

from __future__ import annotations

import os
import tempfile
import time

from ringfence import tool

_ROUNDS = 200_000
_BLOCKS = 40_000
_FILES = 1_000


@tool(safety="read")
def nothing() -> int:
    """Do nothing, and say so."""
    return 0


@tool(safety="write", idempotency="optional")
def nothing_written(number: int) -> int:
    """Do nothing, as a tool that could change something; a number of its own makes each call another call."""
    return number


@tool(safety="read")
def compute() -> float:
    """Count for a while, and say for how many seconds."""
    return time_of_computing()


@tool(safety="read")
def allocate() -> float:
    """Make and drop many small blocks, and say for how many seconds."""
    return time_of_allocating()


@tool(safety="read")
def small_files() -> float:
    """Write, read and remove many small files, and say for how many seconds."""
    return time_of_small_files(tempfile.gettempdir())


def time_of_computing() -> float:
    began = time.perf_counter()
    total = 0
    for number in range(_ROUNDS):
        total += number * number % 7
    return time.perf_counter() - began


def time_of_allocating() -> float:
    began = time.perf_counter()
    kept = [bytearray(512) for _ in range(_BLOCKS)]
    kept.clear()
    return time.perf_counter() - began


def time_of_small_files(folder: str) -> float:
    path = os.path.join(folder, "small")
    began = time.perf_counter()
    for number in range(_FILES):
        with open(path, "wb", buffering=0) as file:
            file.write(b"%d" % number)
        with open(path, "rb", buffering=0) as file:
            file.read()
        os.unlink(path)
    return time.perf_counter() - began
