"""A process that confines itself for exactly one call, then waits for it.

Takes: a layout, the imported tools, the call's own channel.  Gives: a served call, and an exit.  Never: serves twice,
or goes on when a step of its confinement fails.

The order is forced by the kernel: ids before mounts, mounts before Landlock, Landlock before the capabilities go, and
the filter that forbids all of these last.
"""

from __future__ import annotations

import _socket
import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NoReturn

from pydantic import BaseModel

from ringfence.contract.tool import Tool
from ringfence.inside import confined, ways, wire
from ringfence.inside.berth import Berth
from ringfence.inside.faults import describe_fault
from ringfence.inside.filters import filters
from ringfence.inside.layout import INNER_ID, SCRATCH, Bounds, Layout, Rule
from ringfence.inside.patience import Moment
from ringfence.inside.rehearsal import PLAIN, Rehearsal
from ringfence.inside.serve import Terms, one_job, rehearse_call
from ringfence.inside.wire import CHANNEL
from ringfence.kernel import landlock, limits, mounts, namespaces, seccomp
from ringfence.kernel.script import Script, written_down
from ringfence.kernel.syscalls import call

_STACK_BYTES = 8 << 20
_PENDING_SIGNALS = 64
_OVER_CPU_STATUS = 128 + signal.SIGXCPU
_KEPT = (0, 1, 2, CHANNEL)
_FIRST_FREE = len(_KEPT)
_SAME_ID = namespaces.IdMap(inside=INNER_ID, outside=INNER_ID)


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """How a spare gives up everything but what a call needs, its ways out made before the last of it, and says so."""

    enclose: Script
    open_ways: Script
    restrict: Script
    say_ready: Script


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What is the same in every spare of a zygote; without namespaces each works its confinement out for itself."""

    confinement: Confinement | None
    moment: Moment
    terms: Terms


@dataclass(frozen=True, kw_only=True)
class Repertoire:
    """What a spare can be asked for, and what that takes: models of their arguments, as far as they are known before a
    call, a rehearsal, unless it fails, and an event loop where a tool awaits."""

    tools: Mapping[str, Tool]
    models: tuple[type[BaseModel], ...] = ()
    rehearsal: Rehearsal | None = PLAIN
    awaits: bool = False


def run(layout: Layout, repertoire: Repertoire, prepared: Prepared, berth: Berth, warden: int) -> NoReturn:
    """Take the descriptors, confine, say so, serve one job, end."""
    status = 1
    try:
        status = _live(layout, repertoire, prepared, berth, warden)
    except BaseException as failure:  # whatever went wrong here, the host must hear of it and no tool may run
        wire.send(CHANNEL, wire.pack(wire.Kind.FAULT, describe_fault(failure)))
    finally:
        os._exit(status)


def _live(layout: Layout, repertoire: Repertoire, prepared: Prepared, berth: Berth, warden: int) -> int:
    """A spare's whole life; gives the status of its exit where no job came."""
    berth.settle.play()
    confinement = prepared.confinement
    outward: Sequence[int] = ()
    if confinement is None:
        resources = resource_limits(layout.bounds)
        outward = confined.bind_spare(layout, warden=warden, resources=resources, kept=_KEPT)
    else:
        _confine(layout, confinement)
    event_loop = asyncio.new_event_loop() if repertoire.awaits else None
    if confinement is None:
        ways.say_ready(CHANNEL, handing_out=outward)
    else:
        confinement.say_ready.play()
    if repertoire.rehearsal is not None and prepared.moment.passes_in_silence():
        rehearse_call(repertoire.rehearsal)
    return one_job(repertoire.tools, prepared.terms, event_loop)


def prepare(layout: Layout) -> Prepared:
    """Do once, in the process that bears the spares, what would be the same in each: every page that a spare writes to
    becomes its own, and that is most of what it costs."""
    # Process 1 of a namespace ignores signals that it does not handle, and this one says why the call ends.
    signal.signal(signal.SIGXCPU, _over_cpu)
    landlock.prepare(layout.landlock_version)
    with written_down(open_below=_FIRST_FREE) as leave:
        # Next to each other: once the channel is closed, the host looks whether this process is on its way out.
        call("close", CHANNEL)
        call("exit_group", 0)
    confinement = _confinement(layout) if layout.posture == "full" else None
    return Prepared(confinement=confinement, moment=Moment(CHANNEL), terms=Terms.of(layout, leave=leave))


def rehearse() -> None:
    """Write down a confinement that nobody will play: the next one is then no first time."""
    _confinement(_ANY)


def rehearse_life() -> None:
    """Live as a spare does, with nothing to give up and a job that is there: what Python works out on the way, and
    writes to the code, is then in no spare's own copy."""
    # The bare ones: what a tool made of the module's while it was imported is for its own calls.
    ours, theirs = _socket.socketpair()
    with closing(ours), closing(theirs):
        theirs.sendall(PLAIN.frames)
        theirs.shutdown(_socket.SHUT_WR)
        channel = ours.fileno()
        with written_down(open_below=channel) as idle:
            call("dup2", channel, channel)
        prepared = Prepared(
            confinement=Confinement(enclose=idle, open_ways=idle, restrict=idle, say_ready=idle),
            moment=Moment(channel),
            terms=replace(Terms.of(_ANY, leave=idle), channel=channel, most_frame_bytes=len(PLAIN.frames)),
        )
        _live(_ANY, Repertoire(tools=PLAIN.tools), prepared, Berth(settle=idle, let_go=idle.play), 0)


def _confinement(layout: Layout) -> Confinement:
    # A question to the kernel, which while calls are written down gets none.
    families = ways.known_families() if layout.ports else ()
    with written_down(open_below=_FIRST_FREE) as enclose:
        _enclose(layout)
    with written_down(open_below=_FIRST_FREE) as open_ways:
        outward = ways.open_ways(layout.ports, families=families) if layout.ports else []
    with written_down(open_below=_FIRST_FREE + len(outward)) as restrict:
        _restrict(layout)
    with written_down(open_below=_FIRST_FREE + len(outward)) as say_ready:
        ways.say_ready(CHANNEL, handing_out=outward)
    return Confinement(enclose=enclose, open_ways=open_ways, restrict=restrict, say_ready=say_ready)


def _confine(layout: Layout, confinement: Confinement) -> None:
    """Give up everything but what a call needs."""
    confinement.enclose.play()
    try:
        confinement.open_ways.play()
    except OSError as failure:
        message = f"no network of its own, with listeners at {layout.ports}: {failure.strerror}"
        raise OSError(failure.errno, message) from None
    confinement.restrict.play()


def _enclose(layout: Layout) -> None:
    """Its own ids and its own mounts; only for a process that has given nothing up yet."""
    limits.close_all_except(_KEPT)
    namespaces.set_dumpable("dumpable")
    namespaces.write_maps("self", uid=_SAME_ID, gid=_SAME_ID, setgroups="deny")
    _mount(layout)


def _restrict(layout: Layout) -> None:
    namespaces.set_dumpable("hidden")
    limits.apply(resource_limits(layout.bounds))
    _restrict_files(layout)
    limits.drop_capabilities()
    seccomp.install(filters(layout.binds, layout.clients).stage_b)


def _mount(layout: Layout) -> None:
    hidden = [mounts.hold(path) for path in layout.hidden_by_scratch()]
    bounds = layout.bounds
    mounts.mount_scratch(
        SCRATCH,
        size_bytes=bounds.scratch_bytes,
        inodes=bounds.scratch_inodes,
        mode=0o1777,
        code="refused" if layout.imports == "in every call" else "allowed",
    )
    mounts.bind_again(hidden, below=SCRATCH)
    mounts.mount_proc("/proc")
    call("chdir", os.fsencode(layout.start))


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


_ANY = Layout(
    mounts=(),
    devices=(),
    links=(),
    files=(),
    rules=(Rule(path=os.devnull, rights=landlock.READ),),
    landlock_version=1,
    bounds=Bounds(
        cpu_seconds=1,
        memory_bytes=1,
        processes=1,
        scratch_bytes=1,
        scratch_inodes=1,
        output_bytes=1,
        open_files=1,
    ),
    environment=(),
    import_path=(),
    stage_a="",
    stage_b="",
)


def _over_cpu(_signal: int, _frame: object) -> None:
    os._exit(_OVER_CPU_STATUS)
