"""Modules whose import meddles with how spares are born: none gets ready, or one answers for another.

Takes: nothing.  Gives: the modules as text, for a test to write where a jail imports them.  Never: is imported as one.
"""

from __future__ import annotations

from tests.attack.probes.importing import INNOCENT, LEAVING_OUT, TRIES

# The zygote answers for the spare that it never makes.
SERVES_BY_ITSELF = (
    """
import socket
from ringfence.inside import wire, zygote
KEPT = []

def births(self, repertoire):
    while True:
        request, descriptors, _, _ = socket.recv_fds(self._control, 1, 8)
        KEPT.append(descriptors)
        wire.send(descriptors[0], wire.pack(wire.Kind.READY))
        yield request

zygote._Brood.births = births
"""
    + TRIES
)

# A spare says that it is ready once more, so that its second word could pass for a reply.
ANSWERS_TWICE = (
    """
from ringfence.inside import spare, wire
confine = spare._confine

def twice(layout, confinement):
    outward = confine(layout, confinement)
    wire.send(3, wire.pack(wire.Kind.READY))
    return outward

spare._confine = twice
"""
    + TRIES
)

# The describer's jail has larger limits than any call's, and a spare is the first process of its own namespace.
_IN_A_CALL = """
import os

def in_a_call(layout, process=1):
    return layout.bounds.output_bytes <= 1 << 20 and os.getpid() == process
"""

# Its spares are born, and never say so.
NEVER_READY = (
    _IN_A_CALL
    + """
import time
from ringfence.inside import spare
confine = spare._confine

def tarry(layout, confinement):
    while in_a_call(layout):
        time.sleep(3600)
    return confine(layout, confinement)

spare._confine = tarry
"""
    + INNOCENT.replace("innocent", "tarries").replace("linger", "tarries_longer")
)

# Its zygote bears none, and does not say so either.
BARREN = (
    _IN_A_CALL
    + """
import time
from ringfence.inside import zygote
births = zygote._Brood.births

def none(self, repertoire):
    while in_a_call(self._layout, process=2):
        time.sleep(3600)
    return births(self, repertoire)

zygote._Brood.births = none
"""
    + INNOCENT.replace("innocent", "tarries").replace("linger", "tarries_longer")
)

# Of two spares the first keeps quiet, and the second says for both that they are ready, so that two calls are its own.
# It does so once it has its own job: the host would end a jail whose process it heard in its sibling's place first.
ANSWERS_FOR_A_SIBLING = (
    _IN_A_CALL
    + LEAVING_OUT
    + """
import dataclasses, select, time
from ringfence.inside import berth, spare, wire
of, confine, CHANNELS, SIBLING = berth.Berths.of, spare._confine, [], 60

def keep(self, ancillary):
    ((_, _, sent),) = ancillary
    CHANNELS.append(int.from_bytes(sent[:4], "little"))
    return dataclasses.replace(of(self, ancillary), let_go=lambda: None)

def for_both(layout, confinement):
    if not in_a_call(layout):
        return confine(layout, confinement)
    while len(CHANNELS) % 2:
        time.sleep(3600)
    os.dup2(CHANNELS[-2], SIBLING)
    os.closerange(4, SIBLING)
    leave_out("close_range")
    confine(layout, confinement)
    confinement.say_ready.play()
    confinement.say_ready.steps = []
    select.select([3], [], [])
    wire.send(SIBLING, wire.pack(wire.Kind.READY))

berth.Berths.of = keep
spare._confine = for_both
"""
    + INNOCENT
)

# One after the other gets ready and ends instead, so that they never fail in a row.
EVERY_OTHER_FAILS = (
    _IN_A_CALL
    + """
from ringfence.inside import berth, spare, wire
of, confine, BORN = berth.Berths.of, spare._confine, []

def count(self, ancillary):
    BORN.append(1)
    return of(self, ancillary)

def fail(layout, confinement):
    if in_a_call(layout) and len(BORN) % 2:
        wire.send(3, b"no")
        os._exit(0)
    return confine(layout, confinement)

berth.Berths.of = count
spare._confine = fail
"""
    + INNOCENT
)
