"""What closes, without namespaces, each right that an older Landlock cannot refuse, and what no version refuses.

Takes: a Landlock version.  Gives: rows with a reason each.  Never: closes anything; the filter in
`kernel.allowlist_confined` does, and a test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LEAST_VERSION = 1
TRUNCATE_SINCE, SIGNAL_SINCE = 3, 6


@dataclass(frozen=True)
class Closure:
    """A right that Landlock refuses `since` a version: what closes it below that, and what it costs a tool."""

    right: str
    since: int
    closed_by: str
    costs: str


@dataclass(frozen=True)
class Leftover:
    """Something that no Landlock version refuses: what becomes of it in the confined posture."""

    what: str
    state: Literal["closed", "open"]
    how: str


CLOSURES: tuple[Closure, ...] = (
    Closure("refer", 2, "nothing is open: version 1 refuses every move and link between folders",
            "a file is copied instead of moved"),
    Closure("truncate", 3, "seccomp: `truncate` and `openat2` are refused, `O_TRUNC` only with write access, which "
            "Landlock does refuse", "nothing: `ctx.files` does without `openat2`"),
    Closure("bind_tcp", 4, "seccomp: no `bind` and no `listen`, whatever was granted", "nothing"),
    Closure("connect_tcp", 4, "seccomp: no socket of any family; with a `Network` need, each `connect` is asked of the "
            "edge first", "nothing"),
    Closure("ioctl_dev", 5, "seccomp: five harmless commands of `ioctl`, to any file", "nothing"),
    Closure("abstract_unix_socket", 6, "seccomp: no socket of any family but, with a `Network` need, the internet's",
            "nothing"),
    Closure("signal", 6, "seccomp: `tgkill` is refused as `kill` and `tkill` always are, whoever is meant: a filter "
            "cannot know the pid of a process that is not born yet", "`raise` and `abort` do nothing"),
)  # fmt: skip

LEFTOVERS: tuple[Leftover, ...] = (
    Leftover("sockets of every family, pathname sockets and UDP too", "closed",
             "seccomp: no `socket`; with a `Network` need, TCP alone, and the edge says where each one leads"),
    Leftover("modes, owners, times and attributes of files of the same user", "closed",
             "seccomp: `chmod`, `chown`, `utime`, `setxattr` and their kin are refused, in granted folders too"),
    Leftover("extended attributes of any file", "closed", "seccomp: reading one is `not supported`"),
    Leftover("tracing and reading the memory of others of the same user", "closed",
             "seccomp: no `ptrace`, no `process_vm_readv`; Landlock; processes that cannot be dumped, but for those "
             "with a way out, out of whose memory the edge copies what they dial"),
    Leftover("shared memory, semaphores and queues of the machine", "closed", "seccomp: not one of their calls"),
    Leftover("scratch space", "closed",
             "there is none: without a mount nothing bounds it; only what was granted for writing is written"),
    Leftover("how much is written to a granted folder in all", "open",
             "each file is bounded by `disk_mb`, as in `full`; the disk is the operator's to watch"),
    Leftover("what somebody mounts into a granted folder later", "open",
             "the folder is the host's own, and all that appears in it was granted; in `full` it does not appear"),
    Leftover("listing the folder that a call begins in", "closed",
             "Landlock: a right to list would reach every folder below, so only what was granted is listed"),
    Leftover("signals by pid, to itself too", "closed", "seccomp: no `kill`, no `tkill`"),
    Leftover("/proc and /sys", "closed", "Landlock: neither is granted, not even a process's own part"),
    Leftover("whether a path exists, its size, owner and times (`stat`, `readlink`)", "open",
             "paths lie behind a pointer, which a filter cannot follow; of other users' private folders the uid keeps "
             "it, except where a jail runs as the host's own user"),
    Leftover("that a pid exists", "open", "the pid namespace is the host's; nothing of the process can be read"),
    Leftover("the machine's name and kernel", "open", "`uname` is needed by every platform test"),
    Leftover("how many processes the user has", "open",
             "threads are bounded over all of the user's processes, where no control group counts them"),
)  # fmt: skip


def closures(version: int) -> tuple[Closure, ...]:
    """The rights that this version lacks, each with what closes it."""
    return tuple(row for row in CLOSURES if row.since > version)
