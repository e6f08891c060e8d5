"""Which system calls build a jail, and what each is for: without any one of them no tool may run (line 115).

Takes: nothing.  Gives: `FAULTS`, each call once failing and once claiming a success that it did not bring about.
Never: says that a fault may be survived without a reason.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.attack.row import Privilege, everywhere

_NEWUSER = 0x1000_0000


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One call that goes wrong; `first` limits it by the first argument, by equality or by any of its bits.

    `survived` says, for a privilege, why a tool may run all the same.
    """

    call: str
    number: int
    way: Literal["fails", "lies"]
    answer: int
    first: int | None = None
    bits: bool = False
    survived: Mapping[Privilege, str] = field(default_factory=dict[Privilege, str])

    @property
    def name(self) -> str:
        return f"{self.call} {self.way}"

    def document(self) -> dict[str, Any]:
        return {"number": self.number, "answer": self.answer, "first": self.first, "bits": self.bits}


def _both(
    call: str,
    number: int,
    *,
    fails_with: int = errno.EPERM,
    first: int | None = None,
    lie_survived: Mapping[Privilege, str] | None = None,
) -> Iterator[Fault]:
    yield Fault(call=call, number=number, way="fails", answer=fails_with, first=first)
    yield Fault(call=call, number=number, way="lies", answer=0, first=first, survived=lie_survived or {})


_SAME_ID = "an ordinary user's jail runs as that user, who is mapped already"
_LAUNCHER_HAS_IT = "an ordinary user's fault needs this flag itself, so the launcher hands it down"
_ANOTHER_WAY = "the zygote ends with the host's socket, and the jail with the zygote"

FAULTS: tuple[Fault, ...] = (
    Fault(call="user namespace", number=56, way="fails", answer=errno.EPERM, first=_NEWUSER, bits=True),
    *_both("open_tree", 428),
    *_both("move_mount", 429),
    *_both("mount_setattr", 442),
    *_both("mount", 165),
    *_both("pivot_root", 155),
    *_both("umount2", 166),
    *_both("sethostname", 170),
    *_both("setresuid", 117, lie_survived={"user": _SAME_ID}),
    *_both("setresgid", 119, lie_survived={"user": _SAME_ID}),
    *_both("prlimit64", 302),
    *_both("close_range", 436),
    *_both("capset", 126),
    *_both("no new privileges", 157, first=38, lie_survived={"user": _LAUNCHER_HAS_IT}),
    *_both("hidden", 157, first=4),
    *_both("die with the parent", 157, first=1, lie_survived=everywhere(_ANOTHER_WAY)),
    *_both("landlock_create_ruleset", 444, fails_with=errno.ENOSYS),
    *_both("landlock_add_rule", 445, fails_with=errno.ENOSYS),
    *_both("landlock_restrict_self", 446, fails_with=errno.ENOSYS),
    *_both("seccomp", 317),
)
