"""The system calls of a jail without namespaces: the same table, minus what only a namespace or a mount made harmless.

Takes: the Landlock version, and rows for what was granted.  Gives: tables for `seccomp.compile_table`.  Never: allows
a call of its own that the full table does not; it only narrows.

Below some Landlock versions more is taken away; `kernel.closures` says why for each right that such a version lacks.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Sequence

from ringfence.kernel import allowlist, namespaces
from ringfence.kernel.allowlist import Row
from ringfence.kernel.closures import SIGNAL_SINCE, TRUNCATE_SINCE
from ringfence.kernel.seccomp import REFUSE, ArgumentCheck, Masked, OneOf, Outcome, fail_with
from ringfence.kernel.syscalls import NUMBERS

SPARE_FLAGS = namespaces.SAME_PARENT

_NOT_SUPPORTED = fail_with(errno.ENOTSUP)
_ABSENT = fail_with(errno.ENOSYS)
_PR_SET_PDEATHSIG = 1


def _no_bare_truncation(argument: int) -> ArgumentCheck:
    """O_TRUNC only beside write access, which every Landlock version can refuse."""
    return ArgumentCheck(
        alternatives=(
            (Masked(argument=argument, mask=os.O_TRUNC, value=0),),
            (Masked(argument=argument, mask=os.O_ACCMODE, value=os.O_WRONLY),),
            (Masked(argument=argument, mask=os.O_ACCMODE, value=os.O_RDWR),),
        )
    )


WITHOUT_MOUNTS: tuple[Row, ...] = (
    Row("chmod", "no read-only mount refuses it, and Landlock does not know it", REFUSE),
    Row("fchmod", "a file that may be read would do", REFUSE),
    Row("fchmodat", "as chmod", REFUSE),
    Row("fchmodat2", "as chmod", REFUSE),
    Row("utime", "no read-only mount refuses it, and Landlock does not know it", REFUSE),
    Row("utimes", "as utime", REFUSE),
    Row("futimesat", "as utime", REFUSE),
    Row("utimensat", "as utime", REFUSE),
    Row("getxattr", "Landlock does not know it, and any file outside would tell", _NOT_SUPPORTED),
    Row("lgetxattr", "as getxattr", _NOT_SUPPORTED),
    Row("fgetxattr", "as getxattr", _NOT_SUPPORTED),
    Row("listxattr", "as getxattr; shutil.copy2 takes this answer", _NOT_SUPPORTED),
    Row("llistxattr", "as getxattr", _NOT_SUPPORTED),
    Row("flistxattr", "as getxattr", _NOT_SUPPORTED),
)

WITHOUT_TRUNCATE: tuple[Row, ...] = (
    Row("truncate", "Landlock cannot refuse it yet", REFUSE),
    Row("open", "no O_TRUNC without write access", _no_bare_truncation(1)),
    Row("openat", "no O_TRUNC without write access", _no_bare_truncation(2)),
    Row("openat2", "its flags lie behind a pointer", _ABSENT),
)

_LOOKED_AT = ("open", "openat")

# A filter is made before the process that it binds is forked, so it cannot name that process's own pid.
WITHOUT_PIDS: tuple[Row, ...] = (
    Row("kill", "no pid namespace hides others, and even a refusal would tell who is there", REFUSE),
    Row("tkill", "as kill", REFUSE),
)

WITHOUT_SCOPE: tuple[Row, ...] = (
    Row("tgkill", "Landlock cannot keep raise() and abort() to the own process yet", REFUSE),
)

_DIES_WITH_ITS_PARENT = (
    OneOf(argument=0, values=(_PR_SET_PDEATHSIG,), bits=32),
    OneOf(argument=1, values=(signal.SIGKILL,)),
)


def narrowed(version: int) -> tuple[Row, ...]:
    """What differs from the full posture's table at this Landlock version."""
    return (
        *WITHOUT_MOUNTS,
        *WITHOUT_PIDS,
        *(WITHOUT_TRUNCATE if version < TRUNCATE_SINCE else ()),
        *(WITHOUT_SCOPE if version < SIGNAL_SINCE else ()),
    )


def stage_b(version: int, extra: Sequence[Row] = ()) -> dict[int, Outcome]:
    """What a tool may do while it serves a call; `extra` is for what was granted to it."""
    return _further(allowlist.stage_b() | _by_number(version), _rows(extra))


def stage_a(version: int, extra: Sequence[Row] = ()) -> dict[int, Outcome]:
    """What a zygote may do: stage B, and making spares, which mount nothing and die with the warden."""
    table = allowlist.stage_a(clone_flags=SPARE_FLAGS, mount_flags=())
    del table[NUMBERS["mount"]]
    prctl = table[NUMBERS["prctl"]]
    if not isinstance(prctl, ArgumentCheck):
        raise TypeError("stage A lets a zygote call prctl without a look at what for")
    table[NUMBERS["prctl"]] = ArgumentCheck(alternatives=(*prctl.alternatives, _DIES_WITH_ITS_PARENT))
    return _further(table | _by_number(version), _rows(extra))


def _further(table: dict[int, Outcome], extra: dict[int, Outcome]) -> dict[int, Outcome]:
    """The table with what was granted; where an older Landlock already has arguments looked at, both looks count."""
    both = table | extra
    for number in map(NUMBERS.__getitem__, _LOOKED_AT):
        one, other = table.get(number), extra.get(number)
        if isinstance(one, ArgumentCheck) and isinstance(other, ArgumentCheck):
            pairs = ((*first, *second) for first in one.alternatives for second in other.alternatives)
            both[number] = ArgumentCheck(alternatives=tuple(pairs))
    return both


def _by_number(version: int) -> dict[int, Outcome]:
    return _rows(narrowed(version))


def _rows(rows: Sequence[Row]) -> dict[int, Outcome]:
    return {NUMBERS[row.name]: row.outcome for row in rows}
