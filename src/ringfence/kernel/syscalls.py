"""Every system call is made by name, here and nowhere else, and fails with its name in the error.

Takes: a call's name and its arguments.  Gives: the kernel's answer, or OSError.  Never: retries, or guesses a number
for a machine whose table it does not know.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Protocol, TypeVar

from ringfence.errors import RingfenceError
from ringfence.kernel.message import Message

# The x86_64 numbers are dense in two runs; a name's place in its run is its number.
_FIRST_RUN = """
    read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask
    rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select sched_yield mremap msync mincore
    madvise shmget shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer getpid sendfile socket
    connect accept sendto recvfrom sendmsg recvmsg shutdown bind listen getsockname getpeername socketpair
    setsockopt getsockopt clone fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget
    msgsnd msgrcv msgctl fcntl flock fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir rename
    mkdir rmdir creat link unlink symlink readlink chmod fchmod chown fchown lchown umask gettimeofday
    getrlimit getrusage sysinfo times ptrace getuid syslog getgid setuid setgid geteuid getegid setpgid
    getppid getpgrp setsid setreuid setregid getgroups setgroups setresuid getresuid setresgid getresgid
    getpgid setfsuid setfsgid getsid capget capset rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend
    sigaltstack utime mknod uselib personality ustat statfs fstatfs sysfs getpriority setpriority
    sched_setparam sched_getparam sched_setscheduler sched_getscheduler sched_get_priority_max
    sched_get_priority_min sched_rr_get_interval mlock munlock mlockall munlockall vhangup modify_ldt
    pivot_root _sysctl prctl arch_prctl adjtimex setrlimit chroot sync acct settimeofday mount umount2 swapon
    swapoff reboot sethostname setdomainname iopl ioperm create_module init_module delete_module
    get_kernel_syms query_module quotactl nfsservctl getpmsg putpmsg afs_syscall tuxcall security gettid
    readahead setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
    removexattr lremovexattr fremovexattr tkill time futex sched_setaffinity sched_getaffinity set_thread_area
    io_setup io_destroy io_getevents io_submit io_cancel get_thread_area lookup_dcookie epoll_create
    epoll_ctl_old epoll_wait_old remap_file_pages getdents64 set_tid_address restart_syscall semtimedop
    fadvise64 timer_create timer_settime timer_gettime timer_getoverrun timer_delete clock_settime
    clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes vserver mbind
    set_mempolicy get_mempolicy mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
    kexec_load waitid add_key request_key keyctl ioprio_set ioprio_get inotify_init inotify_add_watch
    inotify_rm_watch migrate_pages openat mkdirat mknodat fchownat futimesat newfstatat unlinkat renameat
    linkat symlinkat readlinkat fchmodat faccessat pselect6 ppoll unshare set_robust_list get_robust_list
    splice tee sync_file_range vmsplice move_pages utimensat epoll_pwait signalfd timerfd_create eventfd
    fallocate timerfd_settime timerfd_gettime accept4 signalfd4 eventfd2 epoll_create1 dup3 pipe2
    inotify_init1 preadv pwritev rt_tgsigqueueinfo perf_event_open recvmmsg fanotify_init fanotify_mark
    prlimit64 name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg setns getcpu process_vm_readv
    process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2 seccomp getrandom memfd_create
    kexec_file_load bpf execveat userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect
    pkey_alloc pkey_free statx io_pgetevents rseq
"""
_SECOND_RUN_STARTS = 424
_SECOND_RUN = """
    pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig
    fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2
    mount_setattr quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret
    process_mrelease futex_waitv set_mempolicy_home_node cachestat fchmodat2 map_shadow_stack futex_wake
    futex_wait futex_requeue statmount listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal
    setxattrat getxattrat listxattrat removexattrat open_tree_attr file_getattr file_setattr
"""

NUMBERS: Mapping[str, int] = {
    **{name: number for number, name in enumerate(_FIRST_RUN.split())},
    **{name: number for number, name in enumerate(_SECOND_RUN.split(), start=_SECOND_RUN_STARTS)},
}
TABLE_END = max(NUMBERS.values()) + 1

Argument = int | bytes | ctypes.Array[ctypes.c_char] | Message | None
T = TypeVar("T")

_MOST_ARGUMENTS = 6
_HERE = -100  # AT_FDCWD
# Made as it is: a call by number, which says -1 for every failure.
made = ctypes.CDLL(None, use_errno=True).syscall
made.restype = ctypes.c_long
# As wide as a pointer, all of them: a bare int would be passed as a 32-bit C int and lose the upper half of its bits.
# The number too: of a long, ctypes would first ask whether it is one already, by way of its class.
made.argtypes = [ctypes.c_void_p] * (1 + _MOST_ARGUMENTS)
_ABSENT = (0,) * _MOST_ARGUMENTS


def require_known_machine(machine: str) -> None:
    """Refuse a processor whose call numbers and filter layout are not in the table."""
    if machine != "x86_64":
        raise RingfenceError(
            f"the jail knows the system calls of `x86_64` only, and this machine is `{machine}`",
            code="posture_insufficient",
            remedy="run the sandbox on an x86_64 host, or use a remote sandbox",
        )


def call(name: str, *arguments: Argument) -> int:
    """Make one system call; a failure is an OSError that names the call."""
    if _stand_in is not None:
        return _stand_in.call(name, arguments)
    _require_this_machine()
    answer: int = made(*words_of(name, *arguments))
    if answer < 0:
        raise failed(name, answer=answer)
    return answer


def open_here(path: str, *, flags: int) -> int:
    """Open what is there under this name."""
    return call("openat", _HERE, os.fsencode(path), flags, 0)


def words_of(name: str, *arguments: T) -> tuple[int | T, ...]:
    """A call's number and its arguments, with nothing where it has none."""
    return (NUMBERS[name], *arguments, *_ABSENT[len(arguments) :])


def name_of(number: int) -> str:
    """The name of a call that is in the table."""
    return next(name for name, each in NUMBERS.items() if each == number)


def failed(name: str, *, answer: int) -> OSError:
    """Why a call that was just made did not give what it should have."""
    number = ctypes.get_errno() if answer < 0 else errno.EPROTO
    return OSError(number, f"{name}: {os.strerror(number)}")


class StandIn(Protocol):
    """Whoever answers calls that are not to be made."""

    def call(self, name: str, arguments: tuple[Argument, ...]) -> int: ...


_stand_in: StandIn | None = None


@contextmanager
def answered_by(other: StandIn) -> Generator[None]:
    """While this is open, no call reaches the kernel; only for a process with one thread."""
    global _stand_in  # noqa: PLW0603  `call` is one function for all rooms, and this is about all of them
    _stand_in = other
    try:
        yield
    finally:
        _stand_in = None


@functools.cache
def _require_this_machine() -> None:
    # Not at import: `doctor` must be able to load this room anywhere and say what is wrong.
    require_known_machine(os.uname().machine)
