"""Process 1 of a jail: it builds the root, starts the zygote, and tells the host how each process ended.

Takes: an order.  Gives: records of (pid, status, CPU time, peak memory) over a socket that no tool ever holds.
Never: runs tool code, or outlives the fork server.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import struct
from collections.abc import Iterator, Sequence
from typing import Literal, NoReturn

from ringfence.inside import confined, root, zygote
from ringfence.inside.bedrock import Bedrock, kept_for
from ringfence.inside.layout import INNER_ID, Order
from ringfence.kernel import cgroups, limits, namespaces

HELLO, FAILED, ENDED = b"H", b"F", b"E"
RECORD = struct.Struct("!ciiqqq")
_MOST_TEXT = 1000


def run(
    order: Order,
    *,
    report: int,
    channel: int,
    doors: Sequence[int],
    gate: int,
    life: int,
    granted: Sequence[int] | None,
    below: Bedrock,
) -> NoReturn:
    """Build the jail and watch over it until the zygote ends; `granted` are mounts that only root could make."""
    reports = socket.socket(fileno=report)
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        below.keep_out()  # until the zygote, which inherits what is mapped here, is born
        for door in doors:
            cgroups.enter(door)
        if order.layout.posture == "confined":
            confined.build(order, life=life)
        else:
            _build(order, gate=gate, life=life, granted=granted)
        mine, theirs = socket.socketpair()
        here, born = os.getpid(), os.fork()
        if born == 0:
            reports.close()
            below.hand_over(theirs)
            zygote.run(order, channel=channel, warden=here)
        theirs.close()
        limits.close_all_except((0, 1, 2, report, *kept_for(mine)))
        limits.set_no_new_privileges()
        limits.drop_capabilities()
        reports.send(HELLO)
        _watch(reports, zygote=born, posture=order.layout.posture)
    except BaseException as failure:
        reports.send(FAILED + f"{type(failure).__name__}: {failure}".encode()[:_MOST_TEXT])
        raise
    finally:
        _end(order.layout.posture, status=1)


def _build(order: Order, *, gate: int, life: int, granted: Sequence[int] | None) -> None:
    pieces = root.gather(order, granted=granted)
    if not os.read(gate, 1):
        raise OSError("the fork server gave this jail no ids")
    namespaces.become(INNER_ID, gid=INNER_ID)
    namespaces.set_dumpable("hidden")
    namespaces.die_with_parent()
    # A parent that died before the line above sends no signal; its end of this pipe is closed then.
    if select.select([life], [], [], 0)[0]:
        raise OSError("the fork server is gone")
    os.setsid()
    namespaces.set_hostname("jail")
    root.enter(order.layout, pieces)
    namespaces.bring_loopback_up()


def _watch(reports: socket.socket, *, zygote: int, posture: Literal["full", "confined"]) -> NoReturn:
    while True:
        if posture == "confined":
            confined.wait_for_news()
        for pid, status, used in _ended(posture):
            reports.send(_record(pid, status=status, used=used))
            if pid == zygote:
                _end(posture, status=0)


def _ended(posture: Literal["full", "confined"]) -> Iterator[tuple[int, int, resource.struct_rusage]]:
    """Who ended: in the full posture the next one, waited for; in the confined one all there are, since a signal may
    stand for several."""
    if posture == "full":
        yield os.wait4(-1, 0)
        return
    while (found := confined.next_ended()) is not None:
        yield found


def _end(posture: Literal["full", "confined"], *, status: int) -> NoReturn:
    """A pid namespace ends with this process; without one, whatever was born here is ended first."""
    if posture == "confined":
        confined.end_descendants()
    os._exit(status)


def _record(pid: int, *, status: int, used: resource.struct_rusage) -> bytes:
    user, system = round(used.ru_utime * 1_000_000), round(used.ru_stime * 1_000_000)
    return RECORD.pack(ENDED, pid, status, user, system, used.ru_maxrss * 1024)
