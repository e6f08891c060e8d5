"""What the kernel says of another process: the evidence that a jail is what it claims, read from outside.

Takes: a pid.  Gives: a frozen value.  Never: believes the process itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ringfence.kernel import proc

NAMESPACES = ("user", "mnt", "pid", "net", "ipc", "uts")


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
    fields: dict[bytes, bytes] = {}
    for line in text.splitlines():
        name, _, value = line.partition(b":")
        fields.setdefault(name, value)
    return ProcessStatus(
        seccomp_mode=int(fields[b"Seccomp"]),
        seccomp_filters=int(fields[b"Seccomp_filters"]),
        no_new_privileges=int(fields[b"NoNewPrivs"]),
        effective=int(fields[b"CapEff"], 16),
        permitted=int(fields[b"CapPrm"], 16),
        inheritable=int(fields[b"CapInh"], 16),
        bounding=int(fields[b"CapBnd"], 16),
        ambient=int(fields[b"CapAmb"], 16),
        pids=_numbers(fields[b"NSpid"]),
        uids=_numbers(fields[b"Uid"]),
        gids=_numbers(fields[b"Gid"]),
        parent=int(fields[b"PPid"]),
        threads=int(fields[b"Threads"]),
    )


def read_namespaces(pid: int) -> Mapping[str, str]:
    """The namespaces of a process, by kind; PermissionError where it is hidden from an ordinary user."""
    return {kind: os.readlink(f"/proc/{pid}/ns/{kind}") for kind in NAMESPACES}


def _numbers(value: bytes) -> tuple[int, ...]:
    return tuple(map(int, value.split()))
