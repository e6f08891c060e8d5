"""Things on this machine that a jailed tool must not reach, set out for as long as a campaign lasts.

Takes: nothing.  Gives: a folder that everybody may read, and where each canary is.  Never: leaves one behind.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ENVIRONMENT_NAME = "CANARY"
# Candidates; those that this machine has and that whoever runs the tests can open are tried.
DEVICES = ("/dev/ptmx", "/dev/fuse", "/dev/kvm", "/dev/vda", "/dev/sda", "/dev/mem", "/dev/net/tun", "/dev/kmsg")
KERNEL_FILES = ("/sys/kernel", "/sys/kernel/debug", "/sys/firmware", "/proc/kcore", "/proc/keys", "/proc/timer_list",
                "/proc/kallsyms", "/proc/cmdline", "/proc/version")  # fmt: skip
KERNEL_SETTINGS = ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger")
USUAL_PLACES = ("/home", "/var/lib", "/opt", "/srv", "/run", "/mnt")
_EVERYBODY_LISTS = stat.S_IROTH | stat.S_IXOTH
_IPC_PRIVATE, _IPC_CREAT, _IPC_RMID, _SHM_BYTES = 0, 0o1000, 0, 4096


@contextmanager
def public_folder() -> Generator[Path]:
    """A folder outside `/tmp`, which every jail covers anyway, that any user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="ringfence-attack-", dir="/var/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        # Kept sources are read-only folders, which only root can empty as they are.
        for inner, _, _ in os.walk(folder):
            os.chmod(inner, 0o700)
        shutil.rmtree(folder)


@contextmanager
def set_out(folder: Path) -> Generator[tuple[str, dict[str, Any]]]:
    """The secret, and the canaries that hold it; readable by every user, so that only a jail keeps it."""
    secret = f"canary-{secrets.token_hex(16)}"
    file = folder / "secret"
    file.write_text(secret, encoding="utf-8")
    file.chmod(0o644)
    with ExitStack() as stack:
        tcp = stack.enter_context(_listening(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)))
        udp = stack.enter_context(_listening(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)))
        pathname = str(folder / "socket")
        stack.enter_context(_listening(socket.AF_UNIX, socket.SOCK_STREAM, pathname))
        Path(pathname).chmod(0o777)
        abstract = f"ringfence-{secrets.token_hex(8)}"
        stack.enter_context(_listening(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract))
        yield (
            secret,
            {
                "secret_file": str(file),
                "secret_backwards": secret[::-1],
                "environment_name": ENVIRONMENT_NAME,
                "launcher_pid": 0,
                "tcp_port": tcp.getsockname()[1],
                "udp_port": udp.getsockname()[1],
                "unix_socket": pathname,
                "abstract_socket": abstract,
                "shared_memory_id": stack.enter_context(_shared_memory(secret)),
                "shared_memory_file": stack.enter_context(_shared_file(secret)),
                "setuid_program": _setuid_program(folder),
                "devices": list(filter(_opens, DEVICES)),
                "kernel_files": list(filter(_opens, KERNEL_FILES)),
                "kernel_settings": list(filter(os.path.exists, KERNEL_SETTINGS)),
                "usual_places": [str(place) for place in _usual_places() if _everybody_lists(place)],
            },
        )


@contextmanager
def _listening(family: int, kind: int, address: Any) -> Generator[socket.socket]:
    with socket.socket(family, kind) as server:
        server.bind(address)
        if kind == socket.SOCK_STREAM:
            server.listen(64)
        yield server


@contextmanager
def _shared_memory(secret: str) -> Generator[int]:
    """A System V segment that every user may attach."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    segment = libc.shmget(_IPC_PRIVATE, _SHM_BYTES, _IPC_CREAT | 0o666)
    if segment < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    try:
        at = libc.shmat(segment, None, 0)
        ctypes.memmove(at, secret.encode(), len(secret))
        libc.shmdt(ctypes.c_void_p(at))
        yield segment
    finally:
        libc.shmctl(segment, _IPC_RMID, None)


@contextmanager
def _shared_file(secret: str) -> Generator[str]:
    path = f"/dev/shm/ringfence-{secrets.token_hex(8)}"
    with open(path, "x", encoding="utf-8") as file:
        file.write(secret)
    os.chmod(path, 0o644)
    try:
        yield path
    finally:
        os.unlink(path)


def _setuid_program(folder: Path) -> str:
    """A program that tells its user, and whoever runs it is its owner."""
    program = shutil.copy("/usr/bin/id", folder / "id")
    os.chmod(program, 0o4755)
    return str(program)


def _opens(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _usual_places() -> Iterator[Path]:
    """Where people keep things; of a place on the way to the runtime, which a jail has, what else is there."""
    runtime = {
        parent for place in (*sys.path, sys.prefix, sys.base_prefix) for parent in (Path(place), *Path(place).parents)
    }
    for place in map(Path, USUAL_PLACES):
        if place not in runtime:
            yield place
        else:
            yield from (inner for inner in place.iterdir() if inner not in runtime)


def _everybody_lists(place: Path) -> bool:
    return place.is_dir() and place.stat().st_mode & _EVERYBODY_LISTS == _EVERYBODY_LISTS
