"""A child under a filter really meets it, and a plain Python tool does its work under stage B."""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ringfence.kernel import allowlist, limits, seccomp
from ringfence.kernel.namespaces import NEW_IPC, NEW_MOUNTS, NEW_PIDS, NEW_USER, SAME_PARENT, clone
from ringfence.kernel.seccomp import ALLOW, Outcome, fail_with
from ringfence.kernel.syscalls import NUMBERS, TABLE_END, call
from tests.integration.kernel.children import errno_of, in_child

pytestmark = pytest.mark.req("SBX-3")

SPARE = NEW_USER | NEW_PIDS | NEW_MOUNTS | NEW_IPC | SAME_PARENT
STAGE_B = allowlist.stage_b()
STAGE_A = allowlist.stage_a(clone_flags=SPARE)
EVERYTHING: dict[int, Outcome] = dict.fromkeys(range(TABLE_END), ALLOW)


def under(table: dict[int, Outcome], act: Callable[[], object]) -> object:
    encoded = seccomp.encode(seccomp.compile_table(table))

    def play() -> object:
        limits.set_no_new_privileges()
        seccomp.install(encoded)
        return act()

    return in_child(play)


def imported_fresh(folder: Path, *, stage: str) -> dict[str, object]:
    """What the plain tool gives in a new interpreter that imports it, and its libraries, after entering a stage."""
    script = Path(__file__).with_name("import_under_filter.py")
    source = Path(allowlist.__file__).parents[2]
    done = subprocess.run([sys.executable, script, source, folder, stage], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    gave: dict[str, object] = json.loads(done.stdout)
    return gave


@pytest.mark.parametrize("stage", ["a", "b"])
def test_a_plain_tool_is_imported_and_works_under_a_stage(tmp_path: Path, stage: str) -> None:
    outside = imported_fresh(tmp_path, stage="none")
    assert (outside["loaded_before"], outside["mode"]) == ([], "0")
    assert imported_fresh(tmp_path, stage=stage) == outside | {"mode": "2"}


def fork_and_reap() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def execute() -> None:
    os.execv("/usr/bin/no-such-binary", ["x"])


def send_to(address: bytes) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        ours.sendmsg([b"x"], [], 0, address)


def test_a_pair_of_datagram_sockets_cannot_reach_a_host_socket() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as host:
        host.bind(f"\0ringfence-{os.getpid()}")
        address = host.getsockname()
        assert in_child(lambda: errno_of(lambda: send_to(address))) == "done"
        assert under(STAGE_B, lambda: errno_of(lambda: send_to(address))) == "EPERM"


ATTEMPTS: dict[str, tuple[Callable[[], object], str]] = {
    "fork": (fork_and_reap, "done"),
    "exec": (execute, "ENOENT"),
    "socket": (lambda: socket.socket(), "done"),
    "unix socket": (lambda: socket.socket(socket.AF_UNIX), "done"),
    "internet pair": (lambda: socket.socketpair(socket.AF_INET), "ENOTSUP"),
    "shared memory": (lambda: mmap.mmap(-1, 4096), "done"),
    "memory file": (lambda: os.memfd_create("x"), "done"),
    "unshare": (lambda: call("unshare", 0), "done"),
    "ptrace": (lambda: call("ptrace", 0, 0, 0, 0), "done"),
    "personality": (lambda: call("personality", 0xFFFF_FFFF), "done"),
    "keyring": (lambda: call("keyctl", 0, -3, 0), "done"),
    "process descriptor": (lambda: os.pidfd_open(os.getpid()), "done"),
    "ring": (lambda: call("io_uring_setup", 1, bytes(120)), "done"),
    "nice": (lambda: os.nice(0), "done"),
    "chroot": (lambda: os.chroot("/"), "done"),
    "limit": (lambda: call("prlimit64", 0, resource.RLIMIT_CORE, bytes(16), None), "done"),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_what_succeeds_outside_is_refused_under_stage_b(name: str) -> None:
    attempt, outside = ATTEMPTS[name]
    assert in_child(lambda: errno_of(attempt)) == outside
    assert under(STAGE_B, lambda: errno_of(attempt)) == "EPERM"


def test_clone3_does_not_exist_under_either_stage() -> None:
    for table in (STAGE_A, STAGE_B):
        assert under(table, lambda: errno_of(lambda: call("clone3", bytes(88), 88))) == "ENOSYS"


def shared_zeros() -> None:
    descriptor = os.open("/dev/zero", os.O_RDWR)
    mmap.mmap(descriptor, 4096, flags=mmap.MAP_SHARED)


def test_a_zygote_cannot_share_memory_with_its_spares_through_dev_zero() -> None:
    assert in_child(lambda: errno_of(shared_zeros)) == "done"
    assert under(STAGE_A, lambda: errno_of(shared_zeros)) == "EPERM"


def test_a_zygote_makes_a_spare_that_enters_stage_b() -> None:
    def make() -> str:
        limits.drop_capabilities()
        answer, told = os.pipe()
        if clone(SPARE) == 0:
            try:
                seccomp.install(seccomp.encode(seccomp.compile_table(STAGE_B)))
                os.write(told, f"{os.getpid()} {errno_of(lambda: clone(SPARE))}".encode())
            finally:
                os._exit(0)
        os.close(told)
        return os.read(answer, 100).decode()

    assert under(STAGE_A, make) == "1 EPERM"
    assert os.waitpid(-1, 0)[1] == 0


def test_every_thread_is_put_under_the_filter() -> None:
    def older_thread_meets_it() -> str:
        installed, gave = threading.Event(), list[str]()

        def wait_then_ask() -> None:
            installed.wait()
            gave.append(errno_of(lambda: os.getsid(0)))

        thread = threading.Thread(target=wait_then_ask)
        thread.start()
        limits.set_no_new_privileges()
        seccomp.install(seccomp.encode(seccomp.compile_table(EVERYTHING | {NUMBERS["getsid"]: fail_with(errno.EDOM)})))
        installed.set()
        thread.join()
        return gave[0]

    assert in_child(older_thread_meets_it) == "EDOM"


def getpid_through(code: bytes) -> int:
    """Run machine code that makes a system call by another door."""
    memory = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
    memory.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    return int(function())


I386_GETPID = bytes.fromhex("b814000000cd80c3")
X32_GETPID = bytes.fromhex("b8270000400f05c3")


def test_the_i386_door_kills() -> None:
    assert in_child(lambda: getpid_through(I386_GETPID) == os.getpid()) is True
    assert under(EVERYTHING, lambda: getpid_through(I386_GETPID)) == "SIGSYS"


def test_the_x32_door_kills() -> None:
    assert under(EVERYTHING, lambda: getpid_through(X32_GETPID)) == "SIGSYS"


def test_a_call_above_the_table_does_not_exist() -> None:
    code = bytes.fromhex("b8") + (TABLE_END + 5).to_bytes(4, "little") + bytes.fromhex("0f05c3")
    assert under(EVERYTHING, lambda: getpid_through(code)) == -errno.ENOSYS


def test_a_filter_needs_no_new_privileges_or_privilege() -> None:
    def without() -> str:
        limits.drop_capabilities()
        return errno_of(lambda: seccomp.install(seccomp.encode(seccomp.compile_table({}))))

    assert in_child(without) == "EACCES"
