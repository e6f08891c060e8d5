"""A process binds itself before it runs anybody's code: resource limits, open descriptors, capabilities, privileges.

Takes: numbers.  Gives: a process that can no longer raise them.  Never: chooses a number.
"""

from __future__ import annotations

import errno
import resource
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from ringfence.kernel.syscalls import call

_LAST_DESCRIPTOR = 0xFFFF_FFFF
_CAPABILITY_HEADER = struct.pack("Ii", 0x2008_0522, 0)
_NO_CAPABILITIES = bytes(24)
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_MOST_CAPABILITIES = 64
_ALWAYS_NONE = (
    resource.RLIMIT_CORE,
    resource.RLIMIT_MEMLOCK,
    resource.RLIMIT_MSGQUEUE,
    resource.RLIMIT_RTPRIO,
    resource.RLIMIT_NICE,
)


@dataclass(frozen=True, kw_only=True)
class ResourceLimits:
    """What the kernel counts for one process; core dumps, locked memory, message queues and real-time are always 0."""

    cpu_seconds: int
    data_bytes: int
    stack_bytes: int
    file_bytes: int
    open_files: int
    processes: int
    pending_signals: int


def apply(limits: ResourceLimits) -> None:
    """Set every limit, soft and hard, so that the process cannot raise one again."""
    most = {
        resource.RLIMIT_DATA: limits.data_bytes,
        resource.RLIMIT_STACK: limits.stack_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_NPROC: limits.processes,
        resource.RLIMIT_SIGPENDING: limits.pending_signals,
        **dict.fromkeys(_ALWAYS_NONE, 0),
    }
    # One second between the two: SIGXCPU tells the reaper why, SIGKILL ends a process that ignores it.
    _set(resource.RLIMIT_CPU, soft=limits.cpu_seconds, hard=limits.cpu_seconds + 1)
    for kind, value in most.items():
        _set(kind, soft=value, hard=value)


def _set(kind: int, *, soft: int, hard: int) -> None:
    call("prlimit64", 0, kind, struct.pack("QQ", soft, hard), None)


def close_all_except(kept: Iterable[int]) -> None:
    """Close every descriptor but these, whatever their number."""
    first = 0
    for descriptor in sorted(set(kept)):
        if descriptor > first:
            call("close_range", first, descriptor - 1, 0)
        first = descriptor + 1
    call("close_range", first, _LAST_DESCRIPTOR, 0)


def set_no_new_privileges() -> None:
    """From here on no exec gives this process or its children more than it has."""
    call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def empty_bounding_set() -> None:
    """Drop every capability from the bounding set; needs CAP_SETPCAP, so it comes before `drop_capabilities`."""
    for capability in range(_MOST_CAPABILITIES):
        try:
            call("prctl", _PR_CAPBSET_DROP, capability, 0, 0, 0)
        except OSError as failure:
            # EINVAL: the kernel knows no capability of this number, nor any above it.
            if failure.errno == errno.EINVAL and capability:
                return
            raise


def drop_capabilities() -> None:
    """Hold no capability: effective, permitted, inheritable; the kernel drops the ambient ones with them."""
    call("capset", _CAPABILITY_HEADER, _NO_CAPABILITIES)
