"""Hostile tools that look for files they were not given (lines 1 to 30).

The current folder is the call's scratch; the secret lies outside it and every user of the machine may read it.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import stat
import struct
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

from ringfence import tool

from .attempt import (  # noqa: TID252  a jail imports this as `probes.filesystem`
    Attempt,
    Canaries,
    attempt,
    attempts,
    read_secret,
    read_something,
    system_call,
)

_MOUNT, _UMOUNT2, _RENAMEAT2, _UNSHARE = 165, 166, 316, 272
_NAME_TO_HANDLE_AT, _OPEN_BY_HANDLE_AT, _IO_URING_SETUP = 303, 304, 425
_OPEN_TREE, _FSOPEN, _OPENAT2, _MOUNT_SETATTR = 428, 430, 437, 442
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_MS_REMOUNT, _MS_BIND, _MS_REC, _MNT_DETACH = 32, 4096, 16384, 2
_OPEN_TREE_CLONE, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = 1, 0x8000, 1
_NEWUSER, _NEWNS = 0x1000_0000, 0x0002_0000
_FS_IOC_GETFLAGS, _FS_IOC_SETFLAGS = 0x8008_6601, 0x4008_6602
_LINKS = 39  # the kernel follows 40
_SWAPS = 10_000


def _climbed(path: str) -> str:
    return "../" * 32 + path.lstrip("/")


@tool(safety="read")
def line_001_climb(canaries: Canaries) -> Attempt:
    """Open the secret by a path that climbs out of scratch."""
    return attempt(lambda: read_secret(_climbed(canaries.secret_file), canaries))


@tool(safety="read")
def line_001_climb_to_shadow(canaries: Canaries) -> Attempt:
    """Open the password file by a path that climbs out of scratch."""
    return attempt(lambda: read_something(_climbed("/etc/shadow")))


@tool(safety="read")
def line_002_absolute(canaries: Canaries) -> Attempt:
    """Open the secret by its absolute path."""
    return attempt(lambda: read_secret(canaries.secret_file, canaries))


@tool(safety="read")
def line_003_symbolic_link(canaries: Canaries) -> Attempt:
    """Open a link in scratch that points to the secret."""
    os.symlink(canaries.secret_file, "link")
    return attempt(lambda: read_secret("link", canaries))


@tool(safety="read")
def line_004_chain_of_links(canaries: Canaries) -> Attempt:
    """Open the last of as many links as the kernel follows."""
    os.symlink(canaries.secret_file, "link0")
    for number in range(1, _LINKS):
        os.symlink(f"link{number - 1}", f"link{number}")
    return attempt(lambda: read_secret(f"link{_LINKS - 1}", canaries))


@tool(safety="read")
def line_004_loop_of_links(canaries: Canaries) -> Attempt:
    """Open a link that leads back to itself."""
    if not os.path.lexists("b"):
        os.symlink("a", "b")
    os.symlink("b", "a")
    return attempt(lambda: read_secret("a", canaries))


@tool(safety="read")
def line_005_hard_link(canaries: Canaries) -> Attempt:
    """Link the secret, and this very file, into scratch."""
    return attempts(
        {
            "secret": lambda: os.link(canaries.secret_file, "secret"),
            "source": lambda: os.link(__file__, "source"),
        }
    )


@tool(safety="read")
def line_006_own_root(canaries: Canaries) -> Attempt:
    """Reach the secret through the magic link to the own root."""
    return attempt(lambda: read_secret(f"/proc/self/root{canaries.secret_file}", canaries))


@tool(safety="read")
def line_007_root_of_the_launcher(canaries: Canaries) -> Attempt:
    """Reach the secret through the root and the current folder of the process that launched the jail."""
    launcher = f"/proc/{canaries.launcher_pid}"
    return attempts(
        {
            "root": lambda: read_secret(f"{launcher}/root{canaries.secret_file}", canaries),
            "cwd": lambda: read_secret(f"{launcher}/cwd/{_climbed(canaries.secret_file)}", canaries),
            "parent": lambda: read_secret(f"/proc/{os.getppid()}/root{canaries.secret_file}", canaries),
        }
    )


@tool(safety="read")
def line_007_root_of_process_1(canaries: Canaries) -> Attempt:
    """Reach the secret through the root of process 1."""
    return attempt(lambda: read_secret(f"/proc/1/root{canaries.secret_file}", canaries))


@tool(safety="read")
def line_008_magic_link(canaries: Canaries) -> Attempt:
    """Follow, by openat2, the magic links of a leaked descriptor and of a folder outside."""

    def open_magically(path: str) -> str:
        how = struct.pack("QQQ", os.O_RDONLY, 0, 0)
        with os.fdopen(system_call(_OPENAT2, _AT_FDCWD, path.encode(), how, len(how))):
            return "opened"

    def by_folder() -> str:
        folder, name = os.path.split(canaries.secret_file)
        return open_magically(f"/proc/self/fd/{os.open(folder, os.O_PATH)}/{name}")

    return attempts({"leaked": lambda: open_magically("/proc/self/fd/9"), "folder": by_folder})


@tool(safety="read")
def line_009_leaked_folder(canaries: Canaries) -> Attempt:
    """Open the secret relative to any folder descriptor that was left open."""

    def relative() -> str:
        for descriptor in range(3, 1024):
            if not os.path.isdir(f"/proc/self/fd/{descriptor}"):
                continue
            with os.fdopen(os.open(_climbed(canaries.secret_file), os.O_RDONLY, dir_fd=descriptor)):
                return "opened"
        raise OSError(errno.EBADF, "no folder is open")

    return attempt(relative)


@tool(safety="read")
def line_010_chroot(canaries: Canaries) -> Attempt:
    """Break out of a root by making another one and climbing from outside it."""

    def escape() -> str:
        os.mkdir("inner")
        os.chroot("inner")
        for _ in range(32):
            os.chdir("..")
        os.chroot(".")
        return read_secret(canaries.secret_file, canaries)

    return attempt(escape)


@tool(safety="read")
def line_011_mount(canaries: Canaries) -> Attempt:
    """Mount the whole machine, or a fresh file system, into scratch, by the old calls and by the new ones."""
    with suppress(PermissionError):
        os.mkdir("m")
    return attempts(
        {
            "bind": lambda: system_call(_MOUNT, b"/", b"m", None, _MS_BIND | _MS_REC, None),
            "tmpfs": lambda: system_call(_MOUNT, b"x", b"m", b"tmpfs", 0, None),
            "scratch_flags": lambda: system_call(_MOUNT, b"x", b"m", b"tmpfs", 6, None),
            "proc_flags": lambda: system_call(_MOUNT, b"x", b"m", b"tmpfs", 14, None),
            "open_tree": lambda: system_call(_OPEN_TREE, _AT_FDCWD, b"/", _OPEN_TREE_CLONE | _AT_RECURSIVE),
            "fsopen": lambda: system_call(_FSOPEN, b"tmpfs", 0),
        }
    )


@tool(safety="read")
def line_012_nested_namespaces(canaries: Canaries) -> Attempt:
    """Become root of a user namespace, the first step to an overlay that shows lower layers."""
    return attempt(lambda: system_call(_UNSHARE, _NEWUSER | _NEWNS))


def _mount_points() -> list[str]:
    with suppress(PermissionError):
        return [line.split()[1] for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    return ["/"]


@tool(safety="read")
def line_013_unmount(canaries: Canaries) -> Attempt:
    """Take away what covers something else."""
    last = _mount_points()[-1].encode()
    return attempts(
        {
            "last": lambda: system_call(_UMOUNT2, last, _MNT_DETACH),
            "proc": lambda: system_call(_UMOUNT2, b"/proc", _MNT_DETACH),
        }
    )


@tool(safety="read")
def line_014_remount(canaries: Canaries) -> Attempt:
    """Make a read-only mount writable again, by the old call and by the new one."""
    last = _mount_points()[-1].encode()
    writable = struct.pack("QQQQ", 0, _MOUNT_ATTR_RDONLY, 0, 0)
    return attempts(
        {
            "remount": lambda: system_call(_MOUNT, None, last, None, _MS_REMOUNT | _MS_BIND, None),
            "setattr": lambda: system_call(_MOUNT_SETATTR, _AT_FDCWD, last, 0, writable, len(writable)),
        }
    )


@tool(safety="read")
def line_015_race(canaries: Canaries) -> Attempt:
    """Open a file of scratch while another thread swaps its folder with a link to the secret's folder."""
    folder, name = os.path.split(canaries.secret_file)
    os.mkdir("a")
    Path("a", name).write_text("nothing", encoding="utf-8")
    os.symlink(folder, "link")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            system_call(_RENAMEAT2, _AT_FDCWD, b"a", _AT_FDCWD, b"link", _RENAME_EXCHANGE)

    def race() -> str:
        refused = OSError(errno.ENOENT, "never")
        for _ in range(_SWAPS):
            try:
                return read_secret(f"a/{name}", canaries)
            except OSError as failure:
                refused = failure if failure.errno != errno.ENODATA else refused
        raise refused

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        return attempt(race)
    finally:
        over.set()
        swapping.join()


@tool(safety="read")
def line_017_device_node(canaries: Canaries) -> Attempt:
    """Make a disk and the machine's memory appear in scratch."""
    return attempts(
        {
            "disk": lambda: os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(254, 0)),
            "memory": lambda: os.mknod("memory", stat.S_IFCHR | 0o600, os.makedev(1, 1)),
        }
    )


@tool(safety="read")
def line_018_devices(canaries: Canaries) -> Attempt:
    """Open every device of the machine that its root can open."""

    return attempts({path: partial(_open, path) for path in canaries.devices})


@tool(safety="read")
def line_020_file_capability(canaries: Canaries) -> Attempt:
    """Give a file in scratch the capabilities that its runner does not have."""
    every = struct.pack("<IIIII", 0x0200_0001, 0xFFFF_FFFF, 0, 0xFFFF_FFFF, 0)
    Path("program").write_bytes(b"#!")
    return attempt(lambda: os.setxattr("program", "security.capability", every))


def _open(path: str) -> None:
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))


def _reopen_for_writing(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY))


@tool(safety="read")
def line_021_change_what_is_read_only(canaries: Canaries) -> Attempt:
    """Write, cut, re-date and re-permit files that are there to be read: this source and the loader's folder."""
    own = os.stat(__file__)
    library = os.path.dirname(os.__file__)
    times = os.stat(library)
    planted = os.path.join(os.path.dirname(__file__), "planted")
    return attempts(
        {
            "write": lambda: _reopen_for_writing(__file__),
            "cut": lambda: os.truncate(__file__, own.st_size),
            "permit": lambda: os.chmod(__file__, stat.S_IMODE(own.st_mode)),
            "date": lambda: os.utime(__file__, ns=(own.st_atime_ns, own.st_mtime_ns)),
            "add": lambda: os.close(os.open(planted, os.O_WRONLY | os.O_CREAT, 0o600)),
            "library": lambda: os.utime(library, ns=(times.st_atime_ns, times.st_mtime_ns)),
        }
    )


@tool(safety="read")
def line_021_touch_a_device(canaries: Canaries) -> Attempt:
    """Change the times and rights of a device file that the whole machine shares."""
    return attempts(
        {
            "date": lambda: os.utime("/dev/null"),
            "permit": lambda: os.chmod("/dev/full", stat.S_IMODE(os.stat("/dev/full").st_mode)),
        }
    )


@tool(safety="read")
def line_021_attributes_of_what_is_read_only(canaries: Canaries) -> Attempt:
    """Set an extended attribute and the inode flags of a file that is there to be read."""

    def flags() -> None:
        with open(__file__, "rb") as file:
            fcntl.ioctl(file, _FS_IOC_SETFLAGS, fcntl.ioctl(file, _FS_IOC_GETFLAGS, bytes(8)))

    return attempts({"attribute": lambda: os.setxattr(__file__, "user.x", b"x"), "flags": flags})


@tool(safety="read")
def line_022_kernel_settings(canaries: Canaries) -> Attempt:
    """Open for writing what runs a program as root of the machine."""
    return attempts({path: partial(_reopen_for_writing, path) for path in canaries.kernel_settings})


@tool(safety="read")
def line_022_own_score(canaries: Canaries) -> Attempt:
    """Change how likely this process is to be killed when memory runs out."""
    return attempt(lambda: _reopen_for_writing("/proc/self/oom_score_adj"))


@tool(safety="read")
def line_022_own_timer(canaries: Canaries) -> Attempt:
    """Change a setting that the kernel lets every process change for itself."""
    return attempt(lambda: _reopen_for_writing("/proc/self/timerslack_ns"))


@tool(safety="read")
def line_023_control_groups(canaries: Canaries) -> Attempt:
    """Open for writing a file that moves processes between control groups or names a program to run."""

    def first() -> str:
        for folder in (Path("/sys/fs/cgroup"), *sorted(Path("/sys/fs/cgroup").iterdir())):
            for name in ("release_agent", "cgroup.procs"):
                if (folder / name).exists():
                    _reopen_for_writing(str(folder / name))
                    return name
        raise FileNotFoundError(errno.ENOENT, "no control group is shown")

    return attempt(first)


@tool(safety="read")
def line_024_kernel_files(canaries: Canaries) -> Attempt:
    """Open what tells about the kernel and the machine."""

    return attempts({path: partial(_open, path) for path in canaries.kernel_files})


@tool(safety="read")
def line_025_file_handles(canaries: Canaries) -> Attempt:
    """Name a file by its handle and open it without a path."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    mount = ctypes.create_string_buffer(8)
    folder = _AT_FDCWD
    with suppress(PermissionError):
        folder = os.open(".", os.O_RDONLY)
    return attempts(
        {
            "name": lambda: system_call(_NAME_TO_HANDLE_AT, _AT_FDCWD, b".", handle, mount, 0),
            "open": lambda: os.close(system_call(_OPEN_BY_HANDLE_AT, folder, handle, os.O_RDONLY)),
        }
    )


@tool(safety="read")
def line_030_io_uring(canaries: Canaries) -> Attempt:
    """Open files through a ring that the filter does not see."""
    return attempt(lambda: os.close(system_call(_IO_URING_SETUP, 1, ctypes.create_string_buffer(120))))
