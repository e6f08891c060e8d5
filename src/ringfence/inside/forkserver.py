"""A warm interpreter that never saw the host's memory, and bears every jail.

Takes: orders with two sockets each.  Gives: one warden per order, in fresh namespaces.  Never: runs tool code, or
outlives the host's end of its socket.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from typing import NoReturn

import pydantic

from ringfence.contract.schema import PLAIN_TYPES, plain_output
from ringfence.inside import bedrock, grants, ordering, spare, warden
from ringfence.inside.bedrock import Bedrock
from ringfence.inside.blank import Blank, Life, Nursery
from ringfence.inside.confined import end_descendants, filters_of
from ringfence.inside.filters import filters
from ringfence.inside.layout import INNER_ID, Order
from ringfence.inside.ordering import MOST_DESCRIPTORS, MOST_ORDER_BYTES
from ringfence.inside.rehearsal import PLAIN, WITH_CONTEXT, rehearse_declaring
from ringfence.inside.serve import rehearse_call
from ringfence.kernel import attempts, landlock, namespaces, trials
from ringfence.kernel.precedence import interrupt_nobody

# Until Python has worked out how each step is best taken, it writes to the code as it runs it.
_REHEARSALS = 16
LAY_UP = b"lay up"
JAIL_NAMESPACES = (
    namespaces.NEW_USER
    | namespaces.NEW_MOUNTS
    | namespaces.NEW_PIDS
    | namespaces.NEW_NETWORK
    | namespaces.NEW_IPC
    | namespaces.NEW_HOSTNAME
)


class _Warm(pydantic.BaseModel):
    number: int
    text: str = "a"


def serve(control: socket.socket) -> NoReturn:
    """Answer orders until the host is gone."""
    if os.geteuid() == 0:
        os.setgroups([])
    # Whoever is killed after its reply would else be woken to end on the host's processor, and the host wait for it.
    interrupt_nobody()
    # What has to be tried is tried beside the warming up, on another core where there is one.
    trial = bedrock.begin_trial()
    rehearsal = attempts.begin(trials.whole_root, flags=JAIL_NAMESPACES)
    _warm_up()
    obstacle = rehearsal.end()
    below = bedrock.lay(trial)
    # What has only run out is no reason to hold calls by less: the jail is asked for in full, and refused if need be.
    lacking = obstacle.why if obstacle is not None and not obstacle.passes else None
    if lacking is not None:
        # Whatever a warden that somebody killed leaves behind comes here, and ends with this process.
        namespaces.adopt_orphans()
    # The kernel reaps what dies here; nobody waits for a warden's status.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    life = Life.begin()
    nursery = Nursery(JAIL_NAMESPACES, life=life, below=below)
    mounted = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
    control.send(json.dumps({"lacking": lacking}).encode())
    if lacking is None:
        nursery.lay_up()
    while True:
        packet, descriptors = _next(control, mounted=mounted, nursery=nursery)
        if not packet:
            _end(lacking, nursery=nursery)
        if packet == LAY_UP:
            nursery.lay_up_later()
            continue
        answer = _obey(packet, descriptors=descriptors, nursery=nursery)
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(json.dumps(answer).encode())


def _next(control: socket.socket, *, mounted: int, nursery: Nursery) -> tuple[bytes, list[int]]:
    """What the host says next; no blank is kept when the mounts that it copied are others by now.

    It would show a folder as it was, and hold a file system that somebody unmounted.
    """
    heard: list[socket.socket] = []
    while not heard:
        heard, _, changed = select.select([control], [], [mounted], nursery.seconds_left())
        if changed:
            nursery.clear()
        if not heard:
            nursery.lay_up_if_due()
    packet, descriptors, _, _ = socket.recv_fds(control, MOST_ORDER_BYTES, MOST_DESCRIPTORS)
    return packet, descriptors


def _end(lacking: str | None, *, nursery: Nursery) -> NoReturn:
    """A jail of namespaces hears of this end by itself; without them, everything below is ended first."""
    nursery.clear()
    if lacking is not None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        end_descendants()
    os._exit(0)


def _warm_up() -> None:
    """Load and build once what every tool needs, so that its pages are shared."""
    filters("none")
    filters("again")
    for plain in PLAIN_TYPES:
        plain_output(plain)
    _Warm(number=1).model_dump_json()
    _Warm.model_json_schema()
    pydantic.TypeAdapter(list[str]).dump_json([])
    for _ in range(_REHEARSALS // 2):
        rehearse_declaring()
        spare.rehearse()
    for _ in range(_REHEARSALS):
        spare.rehearse_life()
        rehearse_call(PLAIN)
        rehearse_call(WITH_CONTEXT)
        namespaces.rehearse()
        landlock.rehearse()
    asyncio.new_event_loop().close()
    os.dup2(0, 0)  # found by name the first time
    log = logging.getLogger("ringfence.tool")
    log.addHandler(logging.StreamHandler(sys.stderr))
    log.setLevel(logging.INFO)
    gc.collect()
    gc.freeze()


def _obey(packet: bytes, *, descriptors: Sequence[int], nursery: Nursery) -> dict[str, str]:
    order = ordering.read(packet)
    if (order.layout.stage_a, order.layout.stage_b) != filters_of(order.layout).digests:
        return {"refused": "the host's system call tables are not those of the jail"}
    try:
        if order.layout.posture == "confined":
            _bear_confined(order, descriptors=descriptors, life=nursery.life, below=nursery.below)
        else:
            _bear(order, packet=packet, descriptors=descriptors, nursery=nursery)
    except OSError as failure:
        return {"refused": str(failure)}
    return {}


def _bear(order: Order, *, packet: bytes, descriptors: Sequence[int], nursery: Nursery) -> None:
    blank = _ordered(packet, descriptors=descriptors, nursery=nursery)
    granted: list[int] | None = None
    try:
        granted = grants.take_as_root(order) if os.geteuid() == 0 else None
        _give_ids(blank.pid, order)
        blank.let_go_on(granted=granted)
    finally:
        for tree in granted or ():
            os.close(tree)
        blank.leave()


def _ordered(packet: bytes, *, descriptors: Sequence[int], nursery: Nursery) -> Blank:
    """A blank that has the order; one that ended while it waited is passed over for a new one."""
    for _ in ("the one that waits", "a new one"):
        blank = nursery.take()
        if blank.give(packet, descriptors=descriptors):
            return blank
        blank.leave()
    raise OSError("its first process ended before it had its order")


def _bear_confined(order: Order, *, descriptors: Sequence[int], life: Life, below: Bedrock) -> None:
    if os.fork() == 0:
        os.close(life.held)
        report, channel, *doors = descriptors
        warden.run_confined(order, report=report, channel=channel, doors=doors, life=life.heard, below=below)


def _give_ids(pid: int, order: Order) -> None:
    namespaces.write_maps(
        pid,
        uid=namespaces.IdMap(inside=INNER_ID, outside=order.uid),
        gid=namespaces.IdMap(inside=INNER_ID, outside=order.gid),
        setgroups="deny",
    )
