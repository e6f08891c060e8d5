"""What this process has mapped, as the kernel tells it.

Takes: nothing.  Gives: every mapping, in the order of addresses, as it is at this moment.  Never: changes one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace

from ringfence.kernel.unattended import PAGE, READ, WRITE

RUN = 4
# Below this a mapping has about as many pages as the kernel maps at once.
LARGE = 64 * PAGE
_RIGHTS = {"r": READ, "w": WRITE, "x": RUN}
_MAPPING = re.compile(r"(?P<start>[0-9a-f]+)-(?P<end>[0-9a-f]+) (?P<rights>\S{4}) \S+ \S+ \S+ *(?P<name>.*)")
_WRITTEN = "Anonymous:"


@dataclass(frozen=True, kw_only=True)
class Mapping:
    """One mapping: `written` says that some of it is this process's own by now."""

    start: int
    length: int
    rights: int
    is_private: bool
    name: str
    written: bool = False
    of_small_library: bool = False

    @property
    def is_large(self) -> bool:
        return self.length >= LARGE

    @property
    def is_of_a_file(self) -> bool:
        return self.name.startswith("/") and not self.name.startswith("/memfd:")


def mappings() -> list[Mapping]:
    """All of them."""
    found: list[Mapping] = []
    with open("/proc/self/smaps", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            if fields := _MAPPING.match(line):
                found.append(_mapping(fields))
            elif line.startswith(_WRITTEN) and line.split()[1] != "0":
                found[-1] = replace(found[-1], written=True)
    small = _small_libraries(found)
    return [replace(each, of_small_library=True) if each.name in small else each for each in found]


def _mapping(fields: re.Match[str]) -> Mapping:
    start, rights = int(fields["start"], 16), fields["rights"]
    return Mapping(
        start=start,
        length=int(fields["end"], 16) - start,
        rights=sum(value for letter, value in _RIGHTS.items() if letter in rights),
        is_private=rights[3] == "p",
        name=fields["name"].strip(),
    )


def _small_libraries(found: list[Mapping]) -> set[str]:
    """Files that hold code, none of it large."""
    parts: defaultdict[str, list[Mapping]] = defaultdict(list)
    for each in found:
        if each.is_of_a_file:
            parts[each.name].append(each)
    return {
        name
        for name, mapped in parts.items()
        if any(each.rights & RUN for each in mapped) and not any(each.is_large for each in mapped)
    }
