"""Looks for what the launcher knows: its variables, descriptors, memory, keys, shared memory, terminals, statistics.

Takes: how the canary reads backwards, so that looking for it does not put it there.  Gives: an `Attempt`.
Never: keeps or prints what it finds.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import resource
import struct
from functools import partial

from ringfence import tool

from .attempt import (  # noqa: TID252  a jail imports this as `probes.secrets`
    Attempt,
    Canaries,
    attempt,
    attempts,
    read_secret,
    read_something,
    recognise,
    system_call,
)

_LEAKED = 9
_FIRST_UNKNOWN = 4
_MOST_DESCRIPTORS = 65_536
_MOST_REGION = 64 << 20
_PR_SET_DUMPABLE = 4
_PRCTL, _SHMAT, _ADD_KEY, _KEYCTL, _PRLIMIT = 157, 30, 248, 250, 302
_SESSION_KEYRING, _PROCESS_KEYRING, _KEYCTL_DESCRIBE = -3, -2, 6
_TIOCSTI = 0x5412
_UNREADABLE = ("[vvar]", "[vvar_vclock]", "[vsyscall]")


@tool(safety="read")
def line_097_environment(canaries: Canaries) -> Attempt:
    """Read the launcher's variable: here, in the parent, in the launcher."""

    def own() -> str:
        return recognise(os.environ.get(canaries.environment_name, ""), canaries)

    places = {"own_file": "self", "parent": str(os.getppid()), "launcher": str(canaries.launcher_pid)}
    files = {name: partial(read_secret, f"/proc/{one}/environ", canaries) for name, one in places.items()}
    return attempts({"own": own, **files})


@tool(safety="read")
def line_098_descriptors(canaries: Canaries) -> Attempt:
    """Read the leaked descriptor, and count every other one that is open."""

    def leaked() -> str:
        return recognise(os.pread(_LEAKED, 4096, 0).decode(), canaries)

    def others() -> str:
        found = [number for number in range(_FIRST_UNKNOWN, _MOST_DESCRIPTORS) if _is_open(number)]
        if not found:
            raise OSError(errno.EBADF, "none")
        return f"{found[:20]}"

    return attempts({"leaked": leaked, "others": others})


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


@tool(safety="read")
def line_099_memory(canaries: Canaries) -> Attempt:
    """Search every readable page of this process for the canary; what the launcher's heap held would be here."""

    def search() -> str:
        wanted = canaries.secret_backwards.encode()
        looked_at = 0
        for start, end in _readable_regions():
            region = ctypes.string_at(start, min(end - start, _MOST_REGION))
            looked_at += len(region)
            if _holds_reversed(region, wanted):
                return "found"
        raise OSError(errno.ENODATA if looked_at > 1 << 20 else errno.EIO, "not found")

    return attempts({"heap": search})


def _holds_reversed(region: bytes, backwards: bytes) -> bool:
    """Only what begins like the canary is turned round: a reversed copy of all would put there what is looked for."""
    beginning = backwards[:-8:-1]
    at = region.find(beginning)
    while at >= 0:
        if region[at : at + len(backwards)][::-1] == backwards:
            return True
        at = region.find(beginning, at + 1)
    return False


def _readable_regions() -> list[tuple[int, int]]:
    with open("/proc/self/maps", encoding="ascii") as table:
        rows = [line.split() for line in table]
    spans = [row[0].split("-") for row in rows if row[1].startswith("r") and row[-1] not in _UNREADABLE]
    return [(int(start, 16), int(end, 16)) for start, end in spans]


@tool(safety="read")
def line_100_core_dump(canaries: Canaries) -> Attempt:
    """Become dumpable again, allow a core file, and open own memory by its file."""

    def own_memory() -> None:
        os.close(os.open("/proc/self/mem", os.O_RDWR))

    size = struct.pack("QQ", 1 << 20, 1 << 20)
    return attempts(
        {
            "dumpable": lambda: system_call(_PRCTL, _PR_SET_DUMPABLE, 1, 0, 0, 0),
            "core_size": lambda: system_call(_PRLIMIT, 0, resource.RLIMIT_CORE, size, None),
            "own_memory": own_memory,
        }
    )


@tool(safety="read")
def line_101_keyrings(canaries: Canaries) -> Attempt:
    """Put a key into the kernel's keyring, and look at the session's."""
    name = ctypes.create_string_buffer(4096)
    return attempts(
        {
            "add": lambda: system_call(_ADD_KEY, b"user", b"ringfence-probe", b"x", 1, _PROCESS_KEYRING),
            "describe": lambda: system_call(_KEYCTL, _KEYCTL_DESCRIBE, _SESSION_KEYRING, name, len(name)),
        }
    )


@tool(safety="read")
def line_102_shared_memory(canaries: Canaries) -> Attempt:
    """Attach the host's shared memory, open its file, and list what there is."""

    def attach() -> str:
        address = system_call(_SHMAT, canaries.shared_memory_id, None, 0o10000)
        return recognise(ctypes.string_at(address, len(canaries.secret_backwards)).decode(), canaries)

    def listing() -> str:
        with open("/proc/sysvipc/shm", encoding="ascii") as table:
            return f"{len(table.readlines())} lines"

    return attempts(
        {
            "sysv": attach,
            "file": lambda: read_secret(canaries.shared_memory_file, canaries),
            "listing": listing,
        }
    )


@tool(safety="read")
def line_103_password_file(canaries: Canaries) -> Attempt:
    """Read the hashes of everybody's passwords."""
    return attempts({path: partial(read_something, path) for path in ("/etc/shadow", "/etc/gshadow")})


@tool(safety="read")
def line_103_usual_places(canaries: Canaries) -> Attempt:
    """Look where people and programs keep keys."""
    return attempts({path: partial(_listed, path) for path in canaries.usual_places})


def _listed(path: str) -> str:
    return f"{len(os.listdir(path))} names"


def _touched(path: str) -> None:
    os.close(os.open(path, os.O_RDONLY))


@tool(safety="read")
def line_106_make_a_terminal(canaries: Canaries) -> Attempt:
    """Make a terminal of its own."""
    return attempt(lambda: os.close(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)))


@tool(safety="read")
def line_106_type_into_a_terminal(canaries: Canaries) -> Attempt:
    """Type into a terminal: a fresh one, or else whatever was inherited."""
    try:
        terminal = os.openpty()[1]
    except OSError:
        terminal = 0
    return attempt(lambda: fcntl.ioctl(terminal, _TIOCSTI, b"x"))


@tool(safety="read")
def line_107_about_the_host(canaries: Canaries) -> Attempt:
    """Read what tells of the machine and its other work."""
    names = (
        "/proc/loadavg", "/proc/stat", "/proc/meminfo", "/proc/cpuinfo", "/proc/uptime", "/proc/version",
        "/proc/cmdline", "/proc/net/tcp", "/proc/keys", "/proc/sys/kernel/hostname", "/sys/class/net",
    )  # fmt: skip

    def host_ports() -> str:
        with open("/proc/self/net/tcp", encoding="ascii") as table:
            if f":{canaries.tcp_port:04X} " not in table.read():
                raise OSError(errno.ENODATA, "not the host's")
        return "the host's listeners"

    return attempts({name: partial(_touched, name) for name in names} | {"ports": host_ports})
