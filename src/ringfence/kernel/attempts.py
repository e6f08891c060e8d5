"""Something is tried in a child of its own, which is then gone, and the kernel's answer is kept.

Takes: a mechanism and the namespaces to try it in.  Gives: why it does not work, or nothing.  Never: changes the
process that asks.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

from ringfence.errors import RingfenceError
from ringfence.kernel import namespaces

INSIDE = 1000
_FAILED_WITHOUT_NUMBER = 255


# What says that something has run out, and not that it cannot be had; `ENOSPC` is how a limit of no namespaces shows.
_PASSING = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EINTR})


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """Why something does not work: in words, and the kernel's number where it gave one."""

    why: str
    number: int | None = None

    @property
    def passes(self) -> bool:
        """Whether another try may succeed, so that nothing follows about the machine."""
        return self.number in _PASSING


@dataclass(frozen=True)
class Attempt:
    """A try under way: the child's pid, or why there is none."""

    under_way: int | Obstacle

    def end(self) -> Obstacle | None:
        """What stands in the way; None where the mechanism works."""
        if isinstance(self.under_way, Obstacle):
            return self.under_way
        return _obstacle(os.waitstatus_to_exitcode(os.waitpid(self.under_way, 0)[1]))


def attempt(mechanism: Callable[[], object], *, flags: int) -> str | None:
    """Try it and wait: why it does not work, or None."""
    obstacle = begin(mechanism, flags=flags).end()
    return obstacle.why if obstacle else None


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
    except OSError as failure:
        return Attempt(Obstacle(why=str(failure), number=failure.errno))
    except RingfenceError as failure:
        return Attempt(Obstacle(why=str(failure)))
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


def _obstacle(code: int) -> Obstacle | None:
    if code == 0:
        return None
    if code < 0:
        return Obstacle(why=f"the kernel killed the trial with signal {-code}")
    if code == _FAILED_WITHOUT_NUMBER:
        return Obstacle(why="the trial failed")
    return Obstacle(why=os.strerror(code).lower(), number=code)
