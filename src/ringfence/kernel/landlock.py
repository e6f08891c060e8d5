"""A process gives up every file right that it was not granted, for itself and all it will ever start.

Takes: the kernel's Landlock version, paths and rights.  Gives: a ruleset, then a restricted process.  Never: leaves a
right unhandled that the kernel knows, or shares a ruleset: each process builds its own.

Preconditions: no_new_privs is set, and every mount the process needs is made: a restricted process cannot mount.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
import struct
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType

from ringfence.kernel.syscalls import call, open_here


class Kind(StrEnum):
    """Which word of the ruleset a right belongs to."""

    FILES = "files"
    NETWORK = "network"
    SCOPE = "scope"


@dataclass(frozen=True)
class Right:
    """One access right: since which version the kernel can refuse it, and what is open while it cannot."""

    name: str
    kind: Kind
    bit: int
    since: int
    open_without_it: str


_F, _N, _S = Kind.FILES, Kind.NETWORK, Kind.SCOPE

RIGHTS: tuple[Right, ...] = (
    Right("execute", _F, 1 << 0, 1, "any readable binary runs"),
    Right("write_file", _F, 1 << 1, 1, "files of the same owner are changed"),
    Right("read_file", _F, 1 << 2, 1, "keys and configuration are read"),
    Right("read_dir", _F, 1 << 3, 1, "folders are listed"),
    Right("remove_dir", _F, 1 << 4, 1, "folders are removed or renamed away"),
    Right("remove_file", _F, 1 << 5, 1, "files are removed or renamed away"),
    Right("make_char", _F, 1 << 6, 1, "a character device gives raw access to a driver"),
    Right("make_dir", _F, 1 << 7, 1, "folders appear outside the granted ones"),
    Right("make_reg", _F, 1 << 8, 1, "files appear outside the granted folders"),
    Right("make_sock", _F, 1 << 9, 1, "a socket file lets another process in"),
    Right("make_fifo", _F, 1 << 10, 1, "a pipe file can hang whoever opens it"),
    Right("make_block", _F, 1 << 11, 1, "a block device gives raw access to a disk"),
    Right("make_sym", _F, 1 << 12, 1, "a link misleads whoever follows it later"),
    Right("refer", _F, 1 << 13, 2, "nothing: version 1 refuses every move between folders"),
    Right("truncate", _F, 1 << 14, 3, "a file that may not be written can be emptied"),
    Right("ioctl_dev", _F, 1 << 15, 5, "a device that may be opened takes any command"),
    Right("bind_tcp", _N, 1 << 0, 4, "a TCP port of the host is taken"),
    Right("connect_tcp", _N, 1 << 1, 4, "any TCP address is dialled"),
    Right("abstract_unix_socket", _S, 1 << 0, 6, "abstract unix sockets of the host are reached"),
    Right("signal", _S, 1 << 1, 6, "processes of the same uid are signalled"),
)  # fmt: skip

NEWEST_KNOWN_VERSION = 7

_BY_NAME = {right.name: right for right in RIGHTS}


def mask(*names: str) -> int:
    """The file rights of these names as one number."""
    return sum(_BY_NAME[name].bit for name in set(names))


READ = mask("read_file", "read_dir")
RUN = mask("read_file", "execute")
READ_AND_EXECUTE = READ | mask("execute")
USE_DEVICE = mask("read_file", "write_file")
EVERYTHING_BUT_EXECUTE = sum(right.bit for right in RIGHTS if right.kind is _F) & ~mask("execute")

# A link, a pipe or a socket left in a granted folder would wait there for whoever opens it later, outside.
WRITE = READ | mask("write_file", "truncate", "make_reg", "make_dir", "remove_file", "remove_dir", "refer")

_ON_A_FILE = mask("execute", "write_file", "read_file", "truncate", "ioctl_dev")
_ASK_VERSION = 1
_RULE_PATH_BENEATH, _RULE_NET_PORT = 1, 2


def version() -> int:
    """The Landlock version of this kernel; 0 where it has none, has it off, or a filter hides it."""
    try:
        return call("landlock_create_ruleset", None, 0, _ASK_VERSION)
    except OSError as failure:
        if failure.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
            return 0
        raise


def handled(kind: Kind, *, version: int) -> int:
    """Every right of a kind that this version can refuse."""
    return sum(right.bit for right in RIGHTS if right.kind is kind and right.since <= version)


def missing(version: int) -> tuple[Right, ...]:
    """The rights that this version cannot refuse, each with what that leaves open."""
    return tuple(right for right in RIGHTS if right.since > version)


@functools.cache
def _request(version: int) -> tuple[int, bytes]:
    """The file rights to handle, and the structure that asks for all of them; the same in every process."""
    words = [handled(_F, version=version)]
    # An older kernel refuses a longer structure, so it gets only the words it knows.
    if version >= min(right.since for right in RIGHTS if right.kind is _N):
        words.append(handled(_N, version=version))
    if version >= min(right.since for right in RIGHTS if right.kind is _S):
        words.append(handled(_S, version=version))
    return words[0], struct.pack(f"{len(words)}Q", *words)


def prepare(version: int) -> None:
    """Work out now, for all children, what a ruleset of this version says."""
    _request(version)


def rehearse() -> None:
    """Go through the making of a ruleset that nobody is held to."""
    if known := version():
        with Ruleset(version=min(known, NEWEST_KNOWN_VERSION)) as rules:
            rules.allow(os.devnull, rights=READ)


class Ruleset:
    """What stays allowed; everything else that the version knows is refused once `restrict_self` is called."""

    def __init__(self, *, version: int) -> None:
        self._handled, request = _request(version)
        self._connects = handled(_N, version=version) & _BY_NAME["connect_tcp"].bit
        self._descriptor = call("landlock_create_ruleset", request, len(request), 0)

    def allow(self, path: str, *, rights: int) -> None:
        """Keep these rights at and below `path`."""
        # Another kind of thing under this name by now: the kernel refuses the rule, or it allows less.
        seen = os.stat(path)
        descriptor = open_here(path, flags=os.O_PATH | os.O_CLOEXEC)
        try:
            self._allow(descriptor, seen=seen, rights=rights)
        finally:
            call("close", descriptor)

    def allow_opened(self, descriptor: int, *, rights: int) -> None:
        """The same for what is open already."""
        self._allow(descriptor, seen=os.fstat(descriptor), rights=rights)

    def _allow(self, descriptor: int, *, seen: os.stat_result, rights: int) -> None:
        """Rights that make no sense on a file are left out there."""
        if not stat.S_ISDIR(seen.st_mode):
            rights &= _ON_A_FILE
        rule = struct.pack("=Qi", rights & self._handled, descriptor)
        call("landlock_add_rule", self._descriptor, _RULE_PATH_BENEATH, rule, 0)

    def allow_connect(self, port: int) -> None:
        """Keep the right to dial this TCP port; a version that cannot refuse it needs no rule."""
        if self._connects:
            rule = struct.pack("=QQ", self._connects, port)
            call("landlock_add_rule", self._descriptor, _RULE_NET_PORT, rule, 0)

    def restrict_self(self) -> None:
        """Give up everything else, for good."""
        call("landlock_restrict_self", self._descriptor, 0)

    def close(self) -> None:
        call("close", self._descriptor)

    def __enter__(self) -> Ruleset:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
