"""The system calls a jailed tool may make, each with the reason why it is on the list.

Takes: the exact clone flags a zygote uses.  Gives: tables for `seccomp.compile_table`.  Never: lists what to refuse;
whatever is not here is refused.

Stage B holds while a tool without needs serves one call. Stage A holds while a zygote imports the tool and makes
spares: it is stage B, plus what makes a spare, minus shared mappings.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from dataclasses import dataclass

from ringfence.kernel.mounts import PROC_FLAGS, SCRATCH_FLAGS
from ringfence.kernel.namespaces import (
    NEW_CGROUP,
    NEW_HOSTNAME,
    NEW_IPC,
    NEW_MOUNTS,
    NEW_NETWORK,
    NEW_PIDS,
    NEW_TIME,
    NEW_USER,
    SAME_PARENT,
    flags_register,
)
from ringfence.kernel.seccomp import ALLOW, ArgumentCheck, Masked, OneOf, Outcome, fail_with
from ringfence.kernel.syscalls import NUMBERS


@dataclass(frozen=True)
class Row:
    """One allowed call: its name, why it is allowed, and on which arguments."""

    name: str
    reason: str
    outcome: Outcome = ALLOW


_CLONE_THREAD, _CLONE_PTRACE, _CLONE_VFORK = 0x1_0000, 0x2000, 0x4000
EVERY_NAMESPACE = NEW_MOUNTS | NEW_HOSTNAME | NEW_IPC | NEW_USER | NEW_PIDS | NEW_NETWORK | NEW_CGROUP | NEW_TIME
A_THREAD = Masked(
    argument=0,
    mask=_CLONE_THREAD | _CLONE_PTRACE | _CLONE_VFORK | SAME_PARENT | EVERY_NAMESPACE,
    value=_CLONE_THREAD,
)

# MAP_GROWSDOWN makes a mapping count as stack, which no limit on data bounds.
_MAP_SHARED, _MAP_ANONYMOUS, _MAP_GROWSDOWN = 0x01, 0x20, 0x0100
_NO_SHARED_MEMORY = ArgumentCheck(
    alternatives=(
        (Masked(argument=3, mask=_MAP_ANONYMOUS | _MAP_GROWSDOWN, value=0),),
        (Masked(argument=3, mask=_MAP_SHARED | _MAP_GROWSDOWN, value=0),),
    ),
)
_NO_SHARED_MAPPING = ArgumentCheck(alternatives=((Masked(argument=3, mask=_MAP_SHARED | _MAP_GROWSDOWN, value=0),),))

_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE_MASK = 1, 1, 0xF
_A_STREAM_PAIR = ArgumentCheck(
    alternatives=(
        (
            OneOf(argument=0, values=(_AF_UNIX,), bits=32),
            Masked(argument=1, mask=_SOCK_TYPE_MASK, value=_SOCK_STREAM),
        ),
    ),
)
_FIONREAD, _FIONBIO, _FIOCLEX, _FIONCLEX, _TCGETS = 0x541B, 0x5421, 0x5451, 0x5450, 0x5401
_F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_SETFL, _F_GETLK, _F_SETLK, _F_SETLKW = range(8)
_F_OFD_GETLK, _F_OFD_SETLK, _F_OFD_SETLKW, _F_DUPFD_CLOEXEC, _F_GETPIPE_SZ = 36, 37, 38, 1030, 1032
_PR_SET_NAME, _PR_GET_NAME = 15, 16
_PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 4, 24
_PR_SET_NO_NEW_PRIVS, _PR_GET_TID_ADDRESS = 38, 40
_SECCOMP_SET_MODE_FILTER, _SECCOMP_ALL_THREADS = 1, 1


def _only(argument: int, *values: int) -> ArgumentCheck:
    """The argument, a C int to the kernel, is one of these."""
    return ArgumentCheck(alternatives=((OneOf(argument=argument, values=values, bits=32),),))


def _null(argument: int) -> ArgumentCheck:
    return ArgumentCheck(alternatives=((OneOf(argument=argument, values=(0,)),),))


SERVING: tuple[Row, ...] = (
    # bytes through descriptors that are already held
    Row("read", "the channel, files, pipes"),
    Row("write", "the channel, files, pipes"),
    Row("readv", "buffered readers of libraries"),
    Row("writev", "buffered writers of libraries, asyncio"),
    Row("pread64", "sqlite, zip files"),
    Row("pwrite64", "sqlite"),
    Row("preadv", "os.preadv on files"),
    Row("pwritev", "os.pwritev on files"),
    Row("preadv2", "what newer C libraries make of preadv"),
    Row("pwritev2", "what newer C libraries make of pwritev"),
    Row("lseek", "files"),
    Row("close", "descriptors"),
    Row("close_range", "closes only the caller's own descriptors"),
    Row("dup", "redirecting output"),
    Row("dup2", "redirecting output"),
    Row("dup3", "redirecting output"),
    Row("pipe", "threads that talk to each other"),
    Row("pipe2", "threads that talk to each other"),
    Row("fcntl", "close-on-exec, blocking mode, file locks; not signals on input, leases or pipe growth",
        _only(1, _F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_SETFL, _F_GETLK, _F_SETLK, _F_SETLKW,
              _F_OFD_GETLK, _F_OFD_SETLK, _F_OFD_SETLKW, _F_DUPFD_CLOEXEC, _F_GETPIPE_SZ)),
    Row("ioctl", "how much is readable, blocking mode, close-on-exec, is it a terminal; no device commands, no typing "
        "into a terminal", _only(1, _FIONREAD, _FIONBIO, _FIOCLEX, _FIONCLEX, _TCGETS)),
    Row("sendfile", "shutil copies files with it"),
    Row("copy_file_range", "os.copy_file_range between own files"),
    Row("fsync", "sqlite, careful writers"),
    Row("fdatasync", "sqlite, careful writers"),
    Row("fadvise64", "a hint about own files"),
    # files: which ones is held by the mounts and by Landlock
    Row("open", "older libraries"),
    Row("openat", "every open of Python"),
    Row("openat2", "opens beneath a folder safely"),
    Row("creat", "older libraries"),
    Row("stat", "import system, paths"),
    Row("lstat", "paths"),
    Row("fstat", "every open of Python"),
    Row("newfstatat", "import system, paths"),
    Row("statx", "newer C libraries"),
    Row("statfs", "free space of own scratch"),
    Row("fstatfs", "free space of own scratch"),
    Row("access", "paths, dynamic linker"),
    Row("faccessat", "paths"),
    Row("faccessat2", "paths"),
    Row("readlink", "paths"),
    Row("readlinkat", "paths"),
    Row("getdents", "older libraries list folders"),
    Row("getdents64", "import system, listing folders"),
    Row("getcwd", "relative paths"),
    Row("chdir", "relative paths; opens nothing that was closed"),
    Row("fchdir", "relative paths; opens nothing that was closed"),
    Row("umask", "permissions of own files"),
    Row("mkdir", "temporary folders"),
    Row("mkdirat", "temporary folders"),
    Row("rmdir", "temporary folders"),
    Row("unlink", "temporary files"),
    Row("unlinkat", "temporary files"),
    Row("rename", "atomic writes"),
    Row("renameat", "atomic writes"),
    Row("renameat2", "atomic writes"),
    Row("link", "archives; only where files may be made"),
    Row("linkat", "archives; only where files may be made"),
    Row("symlink", "archives; only where files may be made"),
    Row("symlinkat", "archives; only where files may be made"),
    Row("chmod", "temporary files; read-only mounts refuse it elsewhere"),
    Row("fchmod", "temporary files; read-only mounts refuse it elsewhere"),
    Row("fchmodat", "temporary files; read-only mounts refuse it elsewhere"),
    Row("fchmodat2", "what newer C libraries make of fchmodat"),
    Row("truncate", "own files"),
    Row("ftruncate", "own files"),
    Row("fallocate", "own files, within the scratch bound"),
    Row("utime", "archives keep times"),
    Row("utimes", "archives keep times"),
    Row("futimesat", "archives keep times"),
    Row("utimensat", "archives keep times"),
    Row("flock", "locks on own files"),
    Row("getxattr", "shutil.copy2 reads attributes; setting them stays refused"),
    Row("lgetxattr", "shutil.copy2 reads attributes"),
    Row("fgetxattr", "shutil.copy2 reads attributes"),
    Row("listxattr", "shutil.copy2 fails on EPERM here"),
    Row("llistxattr", "shutil.copy2 fails on EPERM here"),
    Row("flistxattr", "shutil.copy2 fails on EPERM here"),
    # memory
    Row("mmap", "allocation, shared libraries; no memory that outlives or leaves the process, or counts as stack",
        _NO_SHARED_MEMORY),
    Row("munmap", "allocation"),
    Row("mremap", "growing buffers"),
    Row("mprotect", "shared libraries; without exec the process can only change itself"),
    Row("madvise", "allocators give memory back"),
    Row("msync", "mapped files"),
    Row("brk", "allocation"),
    # threads, and nothing that is more than a thread
    Row("clone", "threads only: no process, no namespace", ArgumentCheck(alternatives=((A_THREAD,),))),
    Row("clone3", "its flags lie behind a pointer, so it does not exist; libc falls back to clone",
        fail_with(errno.ENOSYS)),
    Row("futex", "locks"),
    Row("set_robust_list", "libc starts a thread with it"),
    Row("rseq", "libc starts a thread with it"),
    Row("sched_yield", "spinning locks"),
    Row("sched_getaffinity", "counting usable processors"),
    Row("sched_getparam", "reads own scheduling"),
    Row("sched_getscheduler", "reads own scheduling"),
    Row("getcpu", "allocators with a cache per processor"),
    Row("gettid", "thread names and ids"),
    Row("exit", "a thread ends"),
    Row("exit_group", "the process ends"),
    Row("wait4", "there are no children; libraries still ask"),
    Row("waitid", "there are no children; libraries still ask"),
    Row("prctl", "naming a thread, nothing else", _only(0, _PR_SET_NAME, _PR_GET_NAME)),
    # signals: the pid namespace holds one call, so there is nobody else to signal
    Row("kill", "signals to itself; the pid namespace hides all others"),
    Row("tkill", "signals to own threads; the pid namespace hides all others"),
    Row("tgkill", "raise() and abort(); the pid namespace hides all others"),
    Row("rt_sigaction", "signal.signal, faulthandler"),
    Row("rt_sigprocmask", "threads"),
    Row("rt_sigreturn", "return from a signal"),
    Row("rt_sigpending", "signal.sigpending"),
    Row("rt_sigtimedwait", "signal.sigtimedwait"),
    Row("rt_sigsuspend", "waiting for a signal"),
    Row("sigaltstack", "faulthandler, native extensions"),
    Row("pause", "signal.pause"),
    Row("restart_syscall", "the kernel makes it after an interruption"),
    # time
    Row("clock_gettime", "time"),
    Row("clock_getres", "time"),
    Row("clock_nanosleep", "time.sleep"),
    Row("nanosleep", "sleeping in libraries"),
    Row("gettimeofday", "time"),
    Row("time", "time"),
    Row("times", "os.times"),
    Row("alarm", "own time-outs"),
    Row("getitimer", "own time-outs"),
    Row("setitimer", "own time-outs"),
    # waiting for input
    Row("select", "waiting for input"),
    Row("pselect6", "waiting for input"),
    Row("poll", "waiting for input"),
    Row("ppoll", "waiting for input"),
    Row("epoll_create", "older event loops"),
    Row("epoll_create1", "asyncio"),
    Row("epoll_ctl", "asyncio"),
    Row("epoll_wait", "asyncio"),
    Row("epoll_pwait", "asyncio"),
    Row("epoll_pwait2", "newer event loops"),
    Row("eventfd2", "native event loops wake themselves"),
    # the channel that was handed in, and a pair that cannot leave the process; no socket of any family
    Row("socketpair", "asyncio wakes itself through one; not of datagrams, which sendmsg could address to any socket",
        _A_STREAM_PAIR),
    Row("sendto", "the channel; an address is refused", _null(4)),
    Row("recvfrom", "the channel"),
    Row("sendmsg", "the channel; a stream takes no address"),
    Row("recvmsg", "the channel"),
    Row("shutdown", "ends the channel"),
    Row("getsockname", "Python asks when it takes over a descriptor"),
    Row("getpeername", "asyncio asks when it takes over a descriptor"),
    Row("getsockopt", "Python asks when it takes over a descriptor"),
    # who and where am I
    Row("getpid", "identity inside the namespace"),
    Row("getppid", "identity inside the namespace"),
    Row("getuid", "identity inside the namespace"),
    Row("geteuid", "identity inside the namespace"),
    Row("getgid", "identity inside the namespace"),
    Row("getegid", "identity inside the namespace"),
    Row("getresuid", "identity inside the namespace"),
    Row("getresgid", "identity inside the namespace"),
    Row("getgroups", "identity inside the namespace"),
    Row("getpgrp", "identity inside the namespace"),
    Row("getpgid", "identity inside the namespace"),
    Row("getsid", "identity inside the namespace"),
    Row("setsid", "a session of its own; it dies with the pid namespace all the same"),
    Row("uname", "platform; the host name is the jail's"),
    Row("sysinfo", "libc sizes its sort buffer by it"),
    Row("getrusage", "own use of resources"),
    Row("getrlimit", "reads own limits"),
    Row("prlimit64", "reads limits; setting one is refused", _null(2)),
    Row("getpriority", "reads own priority"),
    Row("getrandom", "random, ssl, uuid"),
)  # fmt: skip

MAKING_SPARES: tuple[Row, ...] = (
    Row("mmap", "as in stage B, and no shared mapping at all: one made while importing, of /dev/zero or a file, would "
        "join every later call", _NO_SHARED_MAPPING),
    Row("landlock_create_ruleset", "a spare restricts itself"),
    Row("landlock_add_rule", "a spare restricts itself"),
    Row("landlock_restrict_self", "a spare restricts itself"),
    Row("seccomp", "a spare enters stage B; no listener that could answer for the kernel",
        ArgumentCheck(alternatives=((OneOf(argument=0, values=(_SECCOMP_SET_MODE_FILTER,), bits=32),
                                     OneOf(argument=1, values=(_SECCOMP_ALL_THREADS,), bits=32)),))),
    Row("capset", "a spare drops what its user namespace gave it"),
    Row("prlimit64", "a spare sets its own limits",
        ArgumentCheck(alternatives=((OneOf(argument=2, values=(0,)),), (OneOf(argument=0, values=(0,), bits=32),)))),
    Row("prctl", "a spare hides itself and drops capabilities; clone finds where libc keeps the thread id",
        _only(0, _PR_SET_NAME, _PR_GET_NAME, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP,
              _PR_SET_NO_NEW_PRIVS, _PR_GET_TID_ADDRESS)),
)  # fmt: skip


def stage_b(extra: Iterable[Row] = ()) -> dict[int, Outcome]:
    """What a tool may do while it serves a call; `extra` rows come with what was granted."""
    return _by_number((*SERVING, *extra))


FRESH_MOUNTS = (SCRATCH_FLAGS, PROC_FLAGS)


def stage_a(
    *, clone_flags: int, mount_flags: tuple[int, ...] = FRESH_MOUNTS, extra: Iterable[Row] = ()
) -> dict[int, Outcome]:
    """What a zygote may do: stage B, and making spares with exactly these clone flags and kinds of mount."""
    exact = OneOf(argument=0, values=(flags_register(clone_flags),))
    making = Row(
        "clone", "threads, and spares by their exact flags", ArgumentCheck(alternatives=((exact,), (A_THREAD,)))
    )
    mounting = Row(
        "mount",
        "a spare's fresh scratch and /proc, by their exact flags: no move or remount",
        ArgumentCheck(alternatives=((OneOf(argument=3, values=mount_flags),),)),
    )
    return _either(_by_number((*SERVING, *MAKING_SPARES, making, mounting)), _by_number(extra))


def _either(table: dict[int, Outcome], extra: dict[int, Outcome]) -> dict[int, Outcome]:
    """Both tables: what either allows is allowed."""
    both = table | extra
    for number in table.keys() & extra.keys():
        one, other = table[number], extra[number]
        if isinstance(one, ArgumentCheck) and isinstance(other, ArgumentCheck):
            both[number] = ArgumentCheck(alternatives=one.alternatives + other.alternatives)
    return both


def _by_number(rows: Iterable[Row]) -> dict[int, Outcome]:
    return {NUMBERS[row.name]: row.outcome for row in rows}
