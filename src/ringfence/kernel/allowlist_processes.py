"""The system calls that a tool with listed programs may make besides, each with the reason why it is on the list.

Takes: nothing.  Gives: rows for both stages of such a jail.  Never: a way to run what has no name on a file system, a
namespace, a parent of the caller's choice, or sight of another process's memory.

Which files run is Landlock's and the mounts' to say; the filter cannot read a path. Such a jail imports the tool anew
in every call, so that no code of the tool's ever runs in the process that the calls are made from.
"""

from __future__ import annotations

from ringfence.kernel.allowlist import A_THREAD, EVERY_NAMESPACE, Row, stage_b
from ringfence.kernel.namespaces import SAME_PARENT
from ringfence.kernel.seccomp import REFUSE, ArgumentCheck, Masked, OneOf, Outcome

_CLONE_THREAD, _CLONE_PTRACE, _CLONE_UNTRACED, _CLONE_PIDFD = 0x1_0000, 0x2000, 0x80_0000, 0x1000
_MAP_GROWSDOWN = 0x0100
_ARCH_SET_FS, _ARCH_GET_FS = 0x1002, 0x1003
_A_PROCESS = Masked(
    argument=0,
    mask=_CLONE_THREAD | _CLONE_PTRACE | _CLONE_UNTRACED | _CLONE_PIDFD | SAME_PARENT | EVERY_NAMESPACE,
    value=0,
)
_NO_FLAGS = ArgumentCheck(alternatives=((OneOf(argument=4, values=(0,), bits=32),),))
_PRCTL = (3, 15, 16, 23, 38, 39)  # reads, names, and no_new_privs, which is set already

WITH_PROCESSES: tuple[Row, ...] = (
    Row("execve", "listed programs; Landlock refuses every other file"),
    Row("execveat", "as execve, by a path; never by an empty one, which could name what is in memory only", _NO_FLAGS),
    Row("fork", "a child that lives and dies in the call's own pid namespace"),
    Row("vfork", "as fork; posix_spawn and subprocess use it"),
    Row("clone", "threads and children: no namespace, no tracer, no other parent",
        ArgumentCheck(alternatives=((A_THREAD,), (_A_PROCESS,)))),
    Row("arch_prctl", "the loader of every program sets where its thread's data lies",
        ArgumentCheck(alternatives=((OneOf(argument=0, values=(_ARCH_SET_FS, _ARCH_GET_FS), bits=32),),))),
    Row("set_tid_address", "every program's C library starts with it"),
    Row("mmap", "as without programs, and memory shared between the call's own processes; nothing that counts as stack",
        ArgumentCheck(alternatives=((Masked(argument=3, mask=_MAP_GROWSDOWN, value=0),),))),
    Row("setpgid", "shells put children into groups; all of them are the call's own"),
    Row("pidfd_open", "newer libraries wait for a child by descriptor; only the call's own processes are there"),
    Row("pidfd_send_signal", "newer libraries end a child by descriptor"),
    Row("capget", "programs ask which privileges they have; the answer is none"),
    Row("prctl", "a program names its threads and asks about itself; it can raise nothing",
        ArgumentCheck(alternatives=((OneOf(argument=0, values=_PRCTL, bits=32),),))),
    Row("get_robust_list", "threads of native programs"),
    Row("membarrier", "native runtimes order their own threads"),
    Row("mincore", "native runtimes look at their own memory"),
    Row("sched_get_priority_max", "native runtimes read the scheduler's bounds"),
    Row("sched_get_priority_min", "native runtimes read the scheduler's bounds"),
    Row("sched_getattr", "reads own scheduling"),
    Row("timerfd_create", "event loops of native runtimes"),
    Row("timerfd_settime", "event loops of native runtimes"),
    Row("timerfd_gettime", "event loops of native runtimes"),
    Row("eventfd", "older event loops"),
    Row("signalfd4", "event loops of native runtimes wait for a child"),
    Row("readahead", "a hint about own files"),
    Row("splice", "cat and cp move bytes between own descriptors"),
    Row("tee", "tee copies bytes between own pipes"),
)  # fmt: skip

WITH_AN_ENTRY: tuple[Row, ...] = (
    *WITH_PROCESSES,
    Row("seccomp", "the one process of a tool is held further before its program starts; no listener",
        ArgumentCheck(alternatives=((OneOf(argument=0, values=(1,), bits=32),
                                     OneOf(argument=1, values=(1,), bits=32)),))),
)  # fmt: skip

ALONE: tuple[Row, ...] = (
    Row("fork", "the program was granted no others", REFUSE),
    Row("vfork", "the program was granted no others", REFUSE),
    Row("clone", "threads only", ArgumentCheck(alternatives=((A_THREAD,),))),
    Row("seccomp", "held as far as it will be", REFUSE),
)  # fmt: skip


def stage_c() -> dict[int, Outcome]:
    """What the program of a tool may do that was granted no others."""
    return stage_b((*WITH_PROCESSES, *ALONE))
