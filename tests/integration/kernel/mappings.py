"""What the kernel shows of this process's memory, a line a mapping."""

from __future__ import annotations

import re
from typing import NamedTuple

_HEAD = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ")


class Mapping(NamedTuple):
    """A range, what may be done with it, and how much of it is there."""

    start: int
    length: int
    rights: str
    resident: int


def mappings() -> list[Mapping]:
    found: list[Mapping] = []
    with open("/proc/self/smaps") as lines:
        for line in lines:
            head = _HEAD.match(line)
            if head is not None:
                start, end = int(head[1], 16), int(head[2], 16)
                found.append(Mapping(start, end - start, head[3], 0))
            elif line.startswith("Rss:"):
                found[-1] = found[-1]._replace(resident=int(line.split()[1]) * 1024)
    return found
