"""The allowlist admits what a plain Python tool needs, and refuses by not naming."""

from __future__ import annotations

import pytest

from ringfence.kernel import allowlist
from ringfence.kernel.namespaces import (
    NEW_IPC,
    NEW_MOUNTS,
    NEW_NETWORK,
    NEW_PIDS,
    NEW_USER,
    SAME_PARENT,
    flags_register,
)
from ringfence.kernel.seccomp import ALLOW, REFUSE, UNKNOWN, Action, compile_table
from ringfence.kernel.syscalls import NUMBERS
from tests.unit.kernel.filter_machine import run

pytestmark = pytest.mark.req("SBX-3")

SPARE = NEW_USER | NEW_PIDS | NEW_MOUNTS | NEW_IPC | SAME_PARENT
STAGE_B = compile_table(allowlist.stage_b())
STAGE_A = compile_table(allowlist.stage_a(clone_flags=SPARE))
A_LIBC_THREAD = 0x3D_0F00
PLAIN_FORK = 0x120_0011

DANGEROUS = """
    unshare setns fork vfork execve execveat socket connect bind listen accept accept4 setsockopt sendmmsg recvmmsg
    shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl mq_open memfd_create
    memfd_secret io_uring_setup io_uring_enter io_uring_register io_setup io_submit bpf perf_event_open userfaultfd
    keyctl add_key request_key personality ptrace process_vm_readv process_vm_writev process_madvise pidfd_open
    pidfd_getfd pidfd_send_signal kcmp name_to_handle_at open_by_handle_at umount2 open_tree open_tree_attr move_mount
    fsopen fsconfig fsmount fspick mount_setattr pivot_root chroot reboot swapon swapoff quotactl quotactl_fd acct
    settimeofday clock_settime clock_adjtime adjtimex sched_setscheduler sched_setattr sched_setparam
    sched_setaffinity setpriority mlock mlock2 mlockall ioprio_set mknod mknodat kexec_load kexec_file_load
    init_module finit_module delete_module iopl ioperm modify_ldt sethostname setdomainname syslog lookup_dcookie
    setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid chown fchown lchown fchownat
    setxattr lsetxattr fsetxattr removexattr vmsplice splice tee fanotify_init fanotify_mark inotify_init
    inotify_init1 move_pages migrate_pages mbind set_mempolicy remap_file_pages lsm_set_self_attr
    rt_sigqueueinfo rt_tgsigqueueinfo sync syncfs vhangup uselib setrlimit arch_prctl mincore set_tid_address
"""
MAKES_SPARES = ("mount", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp", "capset")


def b(name: str, *arguments: int) -> Action:
    return run(STAGE_B, NUMBERS[name], *arguments)


def a(name: str, *arguments: int) -> Action:
    return run(STAGE_A, NUMBERS[name], *arguments)


def test_every_row_gives_its_reason_once() -> None:
    for rows in (allowlist.SERVING, allowlist.MAKING_SPARES):
        assert [row.name for row in rows if not row.reason.strip()] == []
        names = [row.name for row in rows]
        assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("name", DANGEROUS.split())
def test_neither_stage_admits_a_dangerous_call(name: str) -> None:
    assert {b(name), a(name)} == {REFUSE}


@pytest.mark.parametrize("name", MAKES_SPARES)
def test_a_serving_tool_cannot_do_what_makes_a_spare(name: str) -> None:
    assert b(name) == REFUSE


def test_stage_a_adds_exactly_the_calls_that_make_a_spare() -> None:
    serving, making = allowlist.stage_b(), allowlist.stage_a(clone_flags=SPARE)
    changed = {name for name, number in NUMBERS.items() if serving.get(number) != making.get(number)}
    assert changed == {*MAKES_SPARES, "clone", "mmap", "prctl", "prlimit64"}


def test_clone3_does_not_exist() -> None:
    assert {b("clone3"), a("clone3")} == {UNKNOWN}


@pytest.mark.parametrize(
    "flags",
    [
        PLAIN_FORK,
        17,
        0,
        flags_register(SPARE),
        flags_register(NEW_USER),
        A_LIBC_THREAD | NEW_MOUNTS,
        A_LIBC_THREAD | NEW_USER,
        A_LIBC_THREAD | SAME_PARENT,
        0x4111,
    ],
)
def test_a_serving_tool_starts_threads_only(flags: int) -> None:
    assert b("clone", A_LIBC_THREAD) == ALLOW
    assert b("clone", flags) == REFUSE


@pytest.mark.parametrize(
    "flags",
    [PLAIN_FORK, 17, flags_register(NEW_USER), flags_register(SPARE | NEW_NETWORK), flags_register(SPARE) | 1 << 32],
)
def test_a_zygote_makes_spares_with_the_exact_flags_only(flags: int) -> None:
    assert a("clone", flags_register(SPARE)) == ALLOW
    assert a("clone", A_LIBC_THREAD) == ALLOW
    assert a("clone", flags) == REFUSE


def test_no_shared_anonymous_memory_in_either_stage() -> None:
    private, shared, validated = 0x22, 0x21, 0x23
    for stage in (a, b):
        assert stage("mmap", 0, 4096, 3, private) == ALLOW
        assert stage("mmap", 0, 4096, 3, shared) == REFUSE
    # MAP_SHARED_VALIDATE is 3: the bit of MAP_SHARED is in it.
    assert b("mmap", 0, 4096, 3, validated) == REFUSE


def test_a_zygote_maps_no_file_shared() -> None:
    shared_file, private_file = 0x01, 0x02
    assert (a("mmap", 0, 4096, 3, shared_file), b("mmap", 0, 4096, 3, shared_file)) == (REFUSE, ALLOW)
    assert a("mmap", 0, 4096, 3, private_file) == ALLOW


def test_an_addressed_datagram_is_refused() -> None:
    assert b("sendto", 3, 1, 1, 0, 0, 0) == ALLOW
    assert b("sendto", 3, 1, 1, 0, 0x7FFF_0000_0000, 16) == REFUSE
    assert b("sendto", 3, 1, 1, 0, 1 << 32, 16) == REFUSE


@pytest.mark.parametrize(("family", "outcome"), [(1, ALLOW), (2, REFUSE), (10, REFUSE), (16, REFUSE), (40, REFUSE)])
def test_a_socket_pair_is_a_unix_one(family: int, outcome: Action) -> None:
    assert b("socketpair", family, 1) == outcome


@pytest.mark.parametrize(
    ("kind", "outcome"), [(1, ALLOW), (0x8_0801, ALLOW), (2, REFUSE), (0x8_0002, REFUSE), (5, REFUSE)]
)
def test_a_socket_pair_is_a_stream(kind: int, outcome: Action) -> None:
    assert b("socketpair", 1, kind) == outcome


@pytest.mark.parametrize(
    ("request_number", "outcome"),
    [
        (0x541B, ALLOW),
        (0x5421, ALLOW),
        (0x5451, ALLOW),
        (0x5401, ALLOW),
        (0x5412, REFUSE),
        (0x541C, REFUSE),
        (0x8914, REFUSE),
    ],
)
def test_ioctl_takes_listed_requests_only(request_number: int, outcome: Action) -> None:
    assert b("ioctl", 0, request_number) == outcome
    assert b("ioctl", 0, request_number | 1 << 32) == outcome


@pytest.mark.parametrize("option", [1, 4, 8, 22, 24, 35, 36, 38, 47])
def test_a_serving_tool_only_names_its_threads(option: int) -> None:
    assert b("prctl", 15) == ALLOW
    assert b("prctl", option) == REFUSE


def test_a_serving_tool_reads_limits_and_sets_none() -> None:
    assert b("prlimit64", 0, 7, 0, 1) == ALLOW
    assert b("prlimit64", 0, 7, 1, 0) == REFUSE


def test_a_zygote_sets_its_own_limits_only() -> None:
    assert a("prlimit64", 0, 7, 1, 0) == ALLOW
    assert a("prlimit64", 1, 7, 1, 0) == REFUSE


@pytest.mark.parametrize("flags", [0, 0x1000, 0x1006, 0x26, 0x2006, 0x4006, 7, 6 | 1 << 32])
def test_a_zygote_mounts_scratch_and_proc_and_binds_nothing(flags: int) -> None:
    assert [a("mount", 0, 0, 0, exact) for exact in (6, 14)] == [ALLOW, ALLOW]
    assert a("mount", 0, 0, 0, flags) == REFUSE


def test_a_zygote_installs_filters_without_a_listener() -> None:
    listener = 8
    assert a("seccomp", 1, 1) == ALLOW
    assert a("seccomp", 1, listener) == REFUSE
    assert a("seccomp", 0, 1) == REFUSE


@pytest.mark.parametrize("command", [8, 10, 1024, 1026, 1031, 1033])
def test_fcntl_cannot_send_signals_take_leases_or_grow_pipes(command: int) -> None:
    assert b("fcntl", 3, 1030) == ALLOW
    assert b("fcntl", 3, command) == REFUSE


def test_the_filters_stay_small_enough_to_install_quickly() -> None:
    assert len(STAGE_B) < 350
    assert len(STAGE_A) < 400
