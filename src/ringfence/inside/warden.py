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
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal, NoReturn

from ringfence.inside import confined, ordering, root, zygote
from ringfence.inside.bedrock import Bedrock, kept_for
from ringfence.inside.grants import take_as_user
from ringfence.inside.layout import INNER_ID, Order
from ringfence.inside.ordering import Heard, hear_ids_given
from ringfence.kernel import cgroups, limits, namespaces

HELLO, FAILED, ENDED = b"H", b"F", b"E"
RECORD = struct.Struct("!ciiqqq")
_MOST_TEXT = 1000


def wait_for_order(orders: socket.socket, *, life: int, below: Bedrock) -> NoReturn:
    """Stand in fresh namespaces with a zygote until there is an order, build its jail, and watch over that."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        limits.close_all_except((0, 1, 2, orders.fileno(), life))
        watched = below.keep_out()  # until the zygote, which inherits what is mapped here, is born
        _end_with_parent(life)
        os.setsid()
        namespaces.set_hostname("jail")
        namespaces.bring_loopback_up()
        here, (gates, theirs) = os.getpid(), ordering.pair()
        born = os.fork()
        if born == 0:
            below.hand_over(theirs)
            zygote.wait_for_order(theirs, warden=here, below=below)
        theirs.close()
        kept = kept_for(gates)
        for descriptor in watched:
            os.close(descriptor)
        root.rehearse()
        # A zygote that is gone takes no order, and neither does its warden then.
        if gates not in select.select([orders, gates], [], [])[0] and (heard := ordering.hear(orders)) is not None:
            _serve(heard, orders=orders, gates=gates, life=life, born=born, kept=kept)
    finally:
        os._exit(1)


def _serve(
    heard: Heard, *, orders: socket.socket, gates: socket.socket, life: int, born: int, kept: Sequence[int]
) -> NoReturn:
    report, channel, *doors = heard.descriptors
    with _reporting(report, posture="full") as reports:
        socket.send_fds(gates, [heard.packet], [channel, *doors])
        for door in doors:
            cgroups.enter(door)
        _build(heard.order, orders=orders, gates=gates, life=life)
        _settle(reports, zygote=born, posture="full", kept=kept)


def _build(order: Order, *, orders: socket.socket, gates: socket.socket, life: int) -> None:
    pieces = root.gather(order)
    handed = hear_ids_given(orders)
    granted = take_as_user(order.layout.granted) if handed is None else handed
    _open_gate(gates)
    namespaces.become(INNER_ID, gid=INNER_ID)
    namespaces.set_dumpable("hidden")
    _end_with_parent(life)
    root.enter(order.layout, pieces, granted=granted)
    _open_gate(gates)


def _open_gate(gates: socket.socket) -> None:
    # A zygote that is gone has told the host itself what went wrong.
    with suppress(BrokenPipeError, ConnectionResetError):
        gates.send(zygote.GO_ON)


def _end_with_parent(life: int) -> None:
    namespaces.die_with_parent()
    # A parent that died before the line above sends no signal; its end of this pipe is closed then.
    if select.select([life], [], [], 0)[0]:
        raise OSError("the fork server is gone")


def run_confined(
    order: Order, *, report: int, channel: int, doors: Sequence[int], life: int, below: Bedrock
) -> NoReturn:
    """Without namespaces: confine, start the zygote and watch over it until it ends."""
    with _reporting(report, posture="confined") as reports:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for door in doors:
            cgroups.enter(door)
        below.keep_out()
        confined.build(order, life=life)
        here, (mine, theirs) = os.getpid(), ordering.pair()
        born = os.fork()
        if born == 0:
            reports.close()
            below.hand_over(theirs)
            zygote.run_confined(order, channel=channel, warden=here, below=below)
        theirs.close()
        _settle(reports, zygote=born, posture="confined", kept=kept_for(mine))


@contextmanager
def _reporting(report: int, *, posture: Literal["full", "confined"]) -> Generator[socket.socket]:
    """Whatever goes wrong in here, the host hears of it and this process ends."""
    reports = socket.socket(fileno=report)
    try:
        yield reports
    except BaseException as failure:
        reports.send(FAILED + f"{type(failure).__name__}: {failure}".encode()[:_MOST_TEXT])
        raise
    finally:
        _end(posture, status=1)


def _settle(
    reports: socket.socket, *, zygote: int, posture: Literal["full", "confined"], kept: Sequence[int]
) -> NoReturn:
    """Keep nothing but the way to the host and what is kept for the zygote, say so, and watch."""
    limits.close_all_except((0, 1, 2, reports.fileno(), *kept))
    limits.set_no_new_privileges()
    limits.drop_capabilities()
    reports.send(HELLO)
    _watch(reports, zygote=zygote, posture=posture)


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
