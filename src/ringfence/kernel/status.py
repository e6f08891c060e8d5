"""What the kernel says of another process: the evidence that a jail is what it claims, read from outside.

Takes: a pid.  Gives: a frozen value.  Never: believes the process itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ringfence.kernel import proc

NAMESPACES = ("user", "mnt", "pid", "net", "ipc", "uts")
# In the kernel's order, so that one scan finds them all.
_FIELDS = (
    b"PPid", b"Uid", b"Gid", b"NSpid", b"Threads",
    b"CapInh", b"CapPrm", b"CapEff", b"CapBnd", b"CapAmb",
    b"NoNewPrivs", b"Seccomp", b"Seccomp_filters",
)  # fmt: skip
# Whole lines, and never a second look at a line: the first one with a name stands.
_SCAN = re.compile(b"".join(rb"(?>(?:[^\n]*\n)*?" + name + rb":)([^\n]*)\n" for name in _FIELDS))


@dataclass(frozen=True, kw_only=True)
class ProcessStatus:
    """The fields of /proc/PID/status that show confinement."""

    seccomp_mode: int
    seccomp_filters: int
    no_new_privileges: int
    effective: int
    permitted: int
    inheritable: int
    bounding: int
    ambient: int
    pids: tuple[int, ...]
    uids: tuple[int, ...]
    gids: tuple[int, ...]
    parent: int
    threads: int


def read_status(pid: int) -> ProcessStatus:
    """Read the status of a process; a field that is absent is an error, never a zero."""
    return parse_status(proc.read(f"/proc/{pid}/status"))


def parse_status(text: bytes) -> ProcessStatus:
    """The fields by name. Only the first line with a name counts: a process chooses its own `Name`, escaped."""
    found = _SCAN.match(text)
    if found is None:
        raise KeyError("a field of the status of a process is absent")
    (
        parent, uids, gids, pids, threads,
        inheritable, permitted, effective, bounding, ambient,
        no_new_privileges, seccomp_mode, seccomp_filters,
    ) = found.groups()  # fmt: skip
    return ProcessStatus(
        seccomp_mode=int(seccomp_mode),
        seccomp_filters=int(seccomp_filters),
        no_new_privileges=int(no_new_privileges),
        effective=int(effective, 16),
        permitted=int(permitted, 16),
        inheritable=int(inheritable, 16),
        bounding=int(bounding, 16),
        ambient=int(ambient, 16),
        pids=_numbers(pids),
        uids=_numbers(uids),
        gids=_numbers(gids),
        parent=int(parent),
        threads=int(threads),
    )


def read_namespaces(pid: int) -> Mapping[str, str]:
    """The namespaces of a process, by kind; PermissionError where it is hidden from an ordinary user."""
    return {kind: os.readlink(f"/proc/{pid}/ns/{kind}") for kind in NAMESPACES}


def _numbers(value: bytes) -> tuple[int, ...]:
    return tuple(map(int, value.split()))
