"""Starts a Python program on a poorer machine: calls that it lacks are refused, and Landlock is an older one.

Takes: `--without WORD` and `--landlock VERSION`, then the program and its arguments.  Gives: the program's own end.
Never: touches the program: the filter is the kernel's, and only the version that the host asks for is capped.
"""

from __future__ import annotations

import argparse
import errno
import runpy
import sys

from ringfence.kernel import landlock, limits, namespaces, seccomp
from ringfence.kernel.seccomp import ALLOW, ArgumentCheck, Masked, Outcome, fail_with
from ringfence.kernel.syscalls import NUMBERS, TABLE_END

_EVERY_NAMESPACE = (
    namespaces.NEW_USER, namespaces.NEW_MOUNTS, namespaces.NEW_PIDS, namespaces.NEW_NETWORK, namespaces.NEW_IPC,
    namespaces.NEW_HOSTNAME, namespaces.NEW_CGROUP,
)  # fmt: skip
_REFUSED = fail_with(errno.EPERM)
_ABSENT = fail_with(errno.ENOSYS)
_NO_NAMESPACES = ArgumentCheck(alternatives=((Masked(argument=0, mask=sum(_EVERY_NAMESPACE), value=0),),))
_NO_ROOM = ArgumentCheck(alternatives=_NO_NAMESPACES.alternatives, otherwise=fail_with(errno.ENOMEM))
_MOUNT_CALLS = ("mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "mount_setattr")

# What is refused, as a container's profile or an old kernel does it.
WITHOUT: dict[str, dict[str, Outcome]] = {
    "namespaces": {
        "clone": _NO_NAMESPACES,
        "unshare": _REFUSED,
        "setns": _REFUSED,
        "clone3": _ABSENT,
        **dict.fromkeys(_MOUNT_CALLS, _REFUSED),
    },
    "memory for namespaces": {"clone": _NO_ROOM, "clone3": _ABSENT},
    "mounts": dict.fromkeys(_MOUNT_CALLS, _REFUSED),
    "landlock": {"landlock_create_ruleset": _ABSENT},
    "seccomp": {"seccomp": _ABSENT},
}


def refuse(word: str) -> None:
    """From here on, and in every child, the machine lacks this."""
    limits.set_no_new_privileges()
    table: dict[int, Outcome] = dict.fromkeys(range(TABLE_END), ALLOW)
    table |= {NUMBERS[name]: outcome for name, outcome in WITHOUT[word].items()}
    seccomp.install(seccomp.encode(seccomp.compile_table(table)))


def cap_landlock(version: int) -> None:
    """The host asks for this version at most, as if the kernel knew no newer one."""
    offered = landlock.version()
    landlock.version = lambda: min(offered, version)


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--without", choices=sorted(WITHOUT))
    words.add_argument("--landlock", type=int)
    words.add_argument("program", nargs=argparse.REMAINDER)
    chosen = words.parse_args()
    if chosen.landlock is not None:
        cap_landlock(chosen.landlock)
    if chosen.without is not None:
        refuse(chosen.without)
    sys.argv = chosen.program
    runpy.run_path(chosen.program[0], run_name="__main__")


if __name__ == "__main__":
    main()
