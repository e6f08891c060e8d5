"""Hostile tools that look for parts of the kernel that were left open (lines 108 to 114)."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
from functools import partial

from ringfence import tool

from .attempt import (  # noqa: TID252  a jail imports this as `probes.kernel`
    Attempt,
    Canaries,
    attempt,
    attempts,
    clone,
    system_call,
)

_BAD_ADDRESS = 1
_PERSONALITY, _PRCTL, _SECCOMP, _CLONE, _CLONE3, _URETPROBE = 135, 157, 317, 56, 435, 335
_NO_RANDOM_ADDRESSES, _READ_IMPLIES_EXEC = 0x004_0000, 0x040_0000
_SET_MODE_FILTER, _NEW_LISTENER, _SET_NO_NEW_PRIVS = 1, 8, 38
_NEWUSER, _SIGCHLD = 0x1000_0000, 17
_TIOCSTI, _TIOCLINUX, _FS_IOC_GETFLAGS, _FIGETBSZ = 0x5412, 0x541C, 0x8008_6601, 2

_Call = tuple[int, *tuple[int | bytes | None, ...]]

# Each is called so that a kernel which looks at it finds a fault in the arguments, or that it has no such part, and
# changes nothing.
_CLOSED_TO_MOST: dict[str, _Call] = {
    "bpf": (321, 9999, None, 0),
    "perf_event_open": (298, _BAD_ADDRESS, 0, -1, -1, 0),
    "kexec_load": (246, 0, 9999, None, 0xFFFF),
    "init_module": (175, _BAD_ADDRESS, 0, b""),
    "finit_module": (313, -1, b"", 0xFFFF),
    "iopl": (172, 9),
    "ioperm": (173, 0xFFFF_FFFF, 9, 1),
    "swapon": (167, b"/nowhere", 0),
    "acct": (163, b"/nowhere"),
    "reboot": (169, 0, 0, 0, None),
    "settimeofday": (164, _BAD_ADDRESS, None),
    "pivot_root": (155, b"/nowhere", b"/nowhere"),
}
_OPEN_TO_ALL: dict[str, _Call] = {
    "userfaultfd": (323, 0xFFFF),
    "quotactl": (179, 0xFFFF_FFFF, None, 0, None),
    "setns": (308, -1, 0),
    "add_key": (248, _BAD_ADDRESS, None, None, 0, 0),
    "keyctl": (250, 9999, 0, 0, 0, 0),
    "memfd_create": (319, b"x", 0xFFFF_FFFF),
    "fanotify_init": (300, 0xFFFF_FFFF, 0),
    "kcmp": (312, -1, -1, 0, 0, 0),
    "modify_ldt": (154, 9999, None, 0),
    "vmsplice": (278, -1, None, 0, 0),
    "move_pages": (279, -1, 0, None, None, None, 0),
}
_LOOKED_AT = (
    errno.EINVAL,
    errno.EFAULT,
    errno.ENOENT,
    errno.ENOEXEC,
    errno.EBADF,
    errno.E2BIG,
    errno.ENODEV,
    errno.ESRCH,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
)


def _each(table: dict[str, _Call]) -> Attempt:
    return attempts({name: partial(system_call, *call) for name, call in table.items()}, reached=_LOOKED_AT)


@tool(safety="read")
def line_108_calls_for_root(canaries: Canaries) -> Attempt:
    """Reach the system calls that change the whole machine."""
    return _each(_CLOSED_TO_MOST)


@tool(safety="read")
def line_108_calls_for_all(canaries: Canaries) -> Attempt:
    """Reach system calls that are open to everybody and rarely needed."""
    return _each(_OPEN_TO_ALL)


@tool(safety="read")
def line_108_calls_long_gone(canaries: Canaries) -> Attempt:
    """Reach calls that this kernel no longer has, and an older one may."""
    gone = {"lookup_dcookie": 212, "nfsservctl": 180, "create_module": 174, "_sysctl": 156}
    return attempts({name: partial(system_call, number) for name, number in gone.items()}, reached=(errno.ENOSYS,))


@tool(safety="read")
def line_109_namespace_by_clone3(canaries: Canaries) -> Attempt:
    """Make a user namespace by the call whose flags no filter can read."""
    request = struct.pack("11Q", _NEWUSER, 0, 0, 0, _SIGCHLD, 0, 0, 0, 0, 0, 0)
    return attempt(lambda: clone(_CLONE3, request, len(request)))


@tool(safety="read")
def line_109_namespace_by_clone(canaries: Canaries) -> Attempt:
    """Make a user namespace by the call whose flags a filter can read, also as a zygote makes spares."""
    spare = 0x1000_0000 | 0x2000_0000 | 0x0002_0000 | 0x0800_0000 | 0x8000 | 0x0100_0000 | 0x0020_0000 | _SIGCHLD
    return attempts(
        {
            "plain": lambda: clone(_CLONE, _NEWUSER | _SIGCHLD, 0, 0, 0, 0),
            "as_a_spare": lambda: clone(_CLONE, spare & ~0x8000, 0, 0, 0, 0),
        }
    )


@tool(safety="read")
def line_109_spare_of_its_own(canaries: Canaries) -> Attempt:
    """Make a process exactly as a zygote makes spares, as a child of its own parent."""
    spare = 0x1000_0000 | 0x2000_0000 | 0x0002_0000 | 0x0800_0000 | 0x8000 | 0x0100_0000 | 0x0020_0000 | _SIGCHLD
    tid = ctypes.create_string_buffer(8)

    return attempt(lambda: clone(_CLONE, spare, 0, 0, ctypes.addressof(tid), 0, then="leave"))


@tool(safety="read")
def line_110_commands_to_devices(canaries: Canaries) -> Attempt:
    """Type into a terminal, and give commands to files and devices."""
    with open("file", "wb") as file, open("/dev/null", "rb") as null:
        return attempts(
            {
                "type": lambda: fcntl.ioctl(null, _TIOCSTI, b"x"),
                "console": lambda: fcntl.ioctl(null, _TIOCLINUX, b"x"),
                "flags": lambda: fcntl.ioctl(file, _FS_IOC_GETFLAGS, bytes(8)) and None,
                "block_size": lambda: fcntl.ioctl(file, _FIGETBSZ, bytes(8)) and None,
            },
            reached=(errno.ENOTTY,),
        )


@tool(safety="read")
def line_111_personality(canaries: Canaries) -> Attempt:
    """Make every readable page executable, and addresses predictable."""
    return attempts(
        {
            "executable": lambda: system_call(_PERSONALITY, _READ_IMPLIES_EXEC),
            "predictable": lambda: system_call(_PERSONALITY, _NO_RANDOM_ADDRESSES),
        }
    )


@tool(safety="read")
def line_112_own_listener(canaries: Canaries) -> Attempt:
    """Answer system calls in the kernel's place, by a listener over the own filter."""
    allow_all = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF_0000), 8)
    program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow_all))
    return attempts(
        {
            "no_new_privs": lambda: system_call(_PRCTL, _SET_NO_NEW_PRIVS, 1, 0, 0, 0),
            "filter": lambda: system_call(_SECCOMP, _SET_MODE_FILTER, 0, program),
            "listener": lambda: system_call(_SECCOMP, _SET_MODE_FILTER, _NEW_LISTENER, program),
        }
    )


@tool(safety="read")
def line_113_call_that_no_filter_sees(canaries: Canaries) -> Attempt:
    """Make the one call that newer kernels let past every filter: outside its place it ends the caller."""
    return attempt(lambda: system_call(_URETPROBE))


@tool(safety="read")
def line_113_calls_beyond_the_table(canaries: Canaries) -> Attempt:
    """Make calls whose numbers no kernel has given out yet."""
    numbers = (*range(470, 520), 1000, 100_000)
    return attempts({str(number): partial(system_call, number) for number in numbers})


@tool(safety="read")
def line_114_inherited_ring(canaries: Canaries) -> Attempt:
    """Use a ring that the launcher left open."""

    def find() -> str:
        for descriptor in range(3, 1024):
            try:
                target = os.readlink(f"/proc/self/fd/{descriptor}")
            except FileNotFoundError:
                continue
            if "io_uring" in target:
                return f"{descriptor} is a ring"
        raise OSError(errno.EBADF, "no ring is open")

    return attempt(find)
