"""Descriptors: how many of them jails may hold, and what is said where none is left.

Takes: what this process may open.  Gives: the share of the jails, and an error that names the limit.
Never: raises the limit itself; it is the host's, and others may count on it.
"""

from __future__ import annotations

import errno
import resource

from ringfence.errors import CallRefused

# The way to the warden, the way to the zygote, the warden itself, and a group's door while a spare is asked for.
FOR_A_JAIL = 4
# Its channel, what it prints, the process, and what the kernel shows of it; its network comes on top.
FOR_A_SPARE = 4
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE})


def share_of_jails() -> int:
    """Three quarters of what this process may open: the rest is for calls under way, and for the host itself."""
    return limit() * 3 // 4


def limit() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def is_exhausted(failure: OSError) -> bool:
    """Whether something could not be opened because too much is open."""
    return failure.errno in _EXHAUSTED


def none_left() -> CallRefused:
    return CallRefused(
        f"no descriptor is left for a jail: this process may open {limit()} files; raise `ulimit -n`",
        code="not_available",
        remedy="raise the limit of open files for this process, with `ulimit -n` or its service manager",
    )
