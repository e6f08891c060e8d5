"""The system calls that a tool with granted files makes more narrowly, each with the reason why.

Takes: nothing.  Gives: rows for both stages of such a jail, in either posture.  Never: a file on the host's disk that
runs with its owner's privileges, whoever starts it.

What is written to a granted folder stays on the machine and belongs to the folder's owner. With the set-user-id bit it
would be a program that makes an owner, root perhaps, of everybody who runs it outside; no mount option and no Landlock
right refuses that bit.
"""

from __future__ import annotations

import errno
import os

from ringfence.kernel.allowlist import Row
from ringfence.kernel.seccomp import ArgumentCheck, Masked, fail_with

_SET_IDS = 0o6000
_MAKES_A_FILE = os.O_CREAT | 0o2000_0000  # with the bit that only O_TMPFILE has
_ABSENT = fail_with(errno.ENOSYS)


def _plain_mode(argument: int) -> ArgumentCheck:
    return ArgumentCheck(alternatives=((Masked(argument=argument, mask=_SET_IDS, value=0),),))


def _plain_if_made(flags: int) -> ArgumentCheck:
    """The mode follows the flags, and means nothing where no file is made."""
    made_plain = (Masked(argument=flags + 1, mask=_SET_IDS, value=0),)
    return ArgumentCheck(alternatives=(made_plain, (Masked(argument=flags, mask=_MAKES_A_FILE, value=0),)))


MAKING: tuple[Row, ...] = (
    Row("open", "no new file with a set-id bit", _plain_if_made(1)),
    Row("openat", "no new file with a set-id bit", _plain_if_made(2)),
    Row("creat", "no new file with a set-id bit", _plain_mode(1)),
    Row("openat2", "the mode of a new file lies behind a pointer; libraries fall back to openat", _ABSENT),
)
CHANGING: tuple[Row, ...] = (
    Row("chmod", "no set-id bit", _plain_mode(1)),
    Row("fchmod", "no set-id bit", _plain_mode(1)),
    Row("fchmodat", "no set-id bit", _plain_mode(2)),
    Row("fchmodat2", "no set-id bit", _plain_mode(2)),
)
WITH_FILES: tuple[Row, ...] = (*MAKING, *CHANGING)
