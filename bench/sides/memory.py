"""Private memory of the processes of this host's jails, as the kernel counts it.

Takes: nothing.  Gives: the most private bytes of a process that serves or waits, and of a zygote.
Never: counts pages that are shared with the process that a jail was born from.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_SPARE_DEPTH, _ZYGOTE_DEPTH, _ZYGOTE = 3, 2, 2


def private_memory() -> tuple[int, int]:
    """Bytes of the largest spare and of the largest zygote below this process."""
    spares, zygotes = [0], [0]
    for pid, inner in _descendants():
        if len(inner) == _SPARE_DEPTH:
            spares.append(_private_bytes(pid))
        elif len(inner) == _ZYGOTE_DEPTH and inner[-1] == _ZYGOTE:
            zygotes.append(_private_bytes(pid))
    return max(spares), max(zygotes)


def _descendants() -> Iterator[tuple[int, list[int]]]:
    """Every process below this one, with its numbers in the namespaces from here down to its own."""
    parents: dict[int, int] = {}
    numbers: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            fields = _fields(folder / "status")
            parents[int(folder.name)] = int(fields.get("PPid", "0"))
            numbers[int(folder.name)] = [int(number) for number in fields.get("NSpid", "").split()]
    yield from ((pid, inner) for pid, inner in numbers.items() if _is_below(pid, parents))


def _is_below(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        pid = parents.get(pid, 0)
        if pid == os.getpid():
            return True
    return False


def _private_bytes(pid: int) -> int:
    fields = _fields(Path(f"/proc/{pid}/smaps_rollup"))
    return sum(int(fields.get(name, "0").split()[0]) * 1024 for name in ("Private_Clean", "Private_Dirty"))


def _fields(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text().splitlines()
    except OSError:  # it ended meanwhile
        return {}
    return {name: value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}
