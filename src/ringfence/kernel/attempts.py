"""Something is tried in a child of its own, which is then gone, and the kernel's answer is kept.

Takes: a mechanism and the namespaces to try it in.  Gives: why it does not work, or nothing.  Never: changes the
process that asks.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

from ringfence.errors import RingfenceError
from ringfence.kernel import namespaces

INSIDE = 1000
_FAILED_WITHOUT_NUMBER = 255


@dataclass(frozen=True)
class Attempt:
    """A try under way: the child's pid, or why there is none."""

    under_way: int | str

    def end(self) -> str | None:
        """Why the mechanism does not work here; None where it does."""
        if isinstance(self.under_way, str):
            return self.under_way
        return _why(os.waitstatus_to_exitcode(os.waitpid(self.under_way, 0)[1]))


def attempt(mechanism: Callable[[], object], *, flags: int) -> str | None:
    """Try it and wait."""
    return begin(mechanism, flags=flags).end()


def begin(mechanism: Callable[[], object], *, flags: int) -> Attempt:
    """Have a child with these namespaces try it; in a user namespace it has an id."""
    gate, held = os.pipe()
    try:
        pid = namespaces.clone(flags)
        if pid == 0:
            os.close(held)
            _exit_with(mechanism, gate=gate)
        if flags & namespaces.NEW_USER:
            _give_ids(pid)
    except (OSError, RingfenceError) as failure:
        return Attempt(str(failure))
    finally:
        # The child goes on when the last end is closed.
        os.close(gate)
        os.close(held)
    return Attempt(pid)


def _give_ids(pid: int) -> None:
    uid = namespaces.IdMap(inside=INSIDE, outside=os.geteuid())
    gid = namespaces.IdMap(inside=INSIDE, outside=os.getegid())
    try:
        namespaces.write_maps(pid, uid=uid, gid=gid, setgroups="deny")
    except OSError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


def _exit_with(mechanism: Callable[[], object], *, gate: int) -> None:
    code = _FAILED_WITHOUT_NUMBER
    try:
        os.read(gate, 1)
        mechanism()
        code = 0
    except OSError as failure:
        code = failure.errno or _FAILED_WITHOUT_NUMBER
    finally:
        os._exit(code)


def _why(code: int) -> str | None:
    if code == 0:
        return None
    if code < 0:
        return f"the kernel killed the trial with signal {-code}"
    return "the trial failed" if code == _FAILED_WITHOUT_NUMBER else os.strerror(code).lower()
