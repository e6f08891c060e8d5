"""A module that wants to answer for the kernel while it is imported, and would let every connection pass."""

from __future__ import annotations

import errno
from collections.abc import Callable

from ringfence import Network, tool
from ringfence.kernel import notify, seccomp
from ringfence.kernel.notify import Notice
from ringfence.kernel.seccomp import ALLOW, Outcome
from ringfence.kernel.syscalls import NUMBERS, TABLE_END

_NOBODYS = Notice(id=1, thread=1, number=NUMBERS["connect"], arguments=())
_TABLE: dict[int, Outcome] = {**dict.fromkeys(range(TABLE_END), ALLOW), NUMBERS["connect"]: notify.ASK}


def _came_of(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError as failure:
        return errno.errorcode[failure.errno or 0]
    return "done"


def _instead_of_the_edge() -> list[str]:
    listener = notify.install(seccomp.encode(seccomp.compile_table(_TABLE)))
    return [
        _came_of(lambda: notify.answer(listener, _NOBODYS, error=0)),
        _came_of(lambda: notify.is_open(listener, _NOBODYS)),
    ]


def _require_nothing_came_of_it() -> None:
    try:
        came = _instead_of_the_edge()
    except PermissionError:
        return  # a jail that only describes the module has no listener at all
    raise RuntimeError(f"the kernel says {came}")


_require_nothing_came_of_it()


@tool(safety="network", egress="write", idempotency="optional", needs=[Network("api.example.com")])
def what_came_of_answering() -> str:
    """Where this runs, the module was imported."""
    return "imported"
