"""A process that confines itself for exactly one call, then waits for it.

Takes: a layout, the imported tools, the call's own channel.  Gives: a served call, and an exit.  Never: serves twice,
or goes on when a step of its confinement fails.

The order is forced by the kernel: ids before mounts, mounts before Landlock, Landlock before the capabilities go, and
the filter that forbids all of these last.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from typing import NoReturn

from ringfence.contract.tool import Tool
from ringfence.inside import confined, serve, ways, wire
from ringfence.inside.faults import describe_fault
from ringfence.inside.filters import filters
from ringfence.inside.layout import INNER_ID, SCRATCH, Bounds, Layout
from ringfence.inside.wire import CHANNEL
from ringfence.kernel import cgroups, landlock, limits, mounts, namespaces, seccomp

_STACK_BYTES = 8 << 20
_PENDING_SIGNALS = 64
_OVER_CPU_STATUS = 128 + signal.SIGXCPU
_SAME_ID = namespaces.IdMap(inside=INNER_ID, outside=INNER_ID)


def run(layout: Layout, tools: Mapping[str, Tool], *, descriptors: Sequence[int], loop: bool, warden: int) -> NoReturn:
    """Confine, say so, serve one job, end; the descriptors are channel, what is printed, doors of control groups."""
    status = 1
    channel, printed, *doors = descriptors
    outward: list[int] = []
    try:
        for door in doors:
            cgroups.enter(door)
        os.dup2(channel, CHANNEL)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        if layout.posture == "confined":
            outward = confined.bind_spare(
                layout, warden=warden, resources=resource_limits(layout.bounds), kept=(0, 1, 2, CHANNEL)
            )
        else:
            outward = _confine(layout)
        serve.rehearse()
        event_loop = asyncio.new_event_loop() if loop else None
        ways.say_ready(CHANNEL, handing_out=outward)
        status = serve.one_job(tools, channel=CHANNEL, event_loop=event_loop, layout=layout)
    except BaseException as failure:  # whatever went wrong here, the host must hear of it and no tool may run
        wire.send(CHANNEL, wire.pack(wire.Kind.FAULT, describe_fault(failure)))
    finally:
        os._exit(status)


def prepare(layout: Layout) -> None:
    """Do once, in the process that bears the spares, what would be the same in each: every page that a spare writes to
    becomes its own, and that is most of what it costs."""
    # Process 1 of a namespace ignores signals that it does not handle, and this one says why the call ends.
    signal.signal(signal.SIGXCPU, _over_cpu)
    landlock.prepare(layout.landlock_version)
    limits.prepare(resource_limits(layout.bounds))
    if layout.posture == "full":
        seccomp.prepare(filters(layout.binds, layout.clients).stage_b)


def _confine(layout: Layout) -> list[int]:
    """Give up everything but what a call needs; gives the ways out that are still to be handed over."""
    namespaces.set_dumpable("dumpable")
    namespaces.write_maps("self", uid=_SAME_ID, gid=_SAME_ID, setgroups="deny")
    _mount(layout)
    outward = ways.open_ways(layout.ports) if layout.ports else []
    namespaces.set_dumpable("hidden")
    limits.apply(resource_limits(layout.bounds))
    _restrict_files(layout)
    limits.drop_capabilities()
    limits.close_all_except((0, 1, 2, CHANNEL, *outward))
    seccomp.install(filters(layout.binds, layout.clients).stage_b)
    return outward


def _mount(layout: Layout) -> None:
    hidden = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in layout.hidden_by_scratch()]
    bounds = layout.bounds
    mounts.mount_scratch(
        SCRATCH,
        size_bytes=bounds.scratch_bytes,
        inodes=bounds.scratch_inodes,
        mode=0o1777,
        code="refused" if layout.imports == "in every call" else "allowed",
    )
    for path, descriptor in hidden:
        mounts.bind_again(descriptor, target=path)
    mounts.mount_proc("/proc")
    os.chdir(layout.start)


def _restrict_files(layout: Layout) -> None:
    with landlock.Ruleset(version=layout.landlock_version) as rules:
        for rule in layout.rules:
            rules.allow(rule.path, rights=rule.rights)
        for port in layout.ports:
            rules.allow_connect(port)
        rules.restrict_self()


def resource_limits(bounds: Bounds) -> limits.ResourceLimits:
    return limits.ResourceLimits(
        cpu_seconds=bounds.cpu_seconds,
        data_bytes=bounds.memory_bytes,
        stack_bytes=_STACK_BYTES,
        file_bytes=bounds.scratch_bytes,
        open_files=bounds.open_files,
        processes=bounds.processes,
        pending_signals=_PENDING_SIGNALS,
    )


def _over_cpu(_signal: int, _frame: object) -> None:
    os._exit(_OVER_CPU_STATUS)
