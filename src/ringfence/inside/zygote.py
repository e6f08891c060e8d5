"""Process 2 of a jail: it gives up what it can, imports the tool, and forks a spare for every call.

Takes: an order, then one request per spare.  Gives: the fingerprints of what it imported, and spares.
Never: imports before it is under stage A, or serves a call itself.
"""

from __future__ import annotations

import inspect
import json
import os
import resource
import select
import socket
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, NoReturn

from ringfence.contract.tool import Tool
from ringfence.inside import confined, ordering, serve, spare, wire
from ringfence.inside.bedrock import Bedrock
from ringfence.inside.berth import DESCRIPTOR, MOST_DESCRIPTORS, Berth, Berths
from ringfence.inside.describe import fingerprints
from ringfence.inside.faults import describe_fault
from ringfence.inside.filters import filters, spare_flags
from ringfence.inside.importing import ImportedWhenAsked, import_tools
from ringfence.inside.inherited import Range, let_go
from ringfence.inside.layout import INNER_ID, SOURCE_FOLDER, Layout, Order
from ringfence.inside.patience import Moment
from ringfence.inside.rebirth import forget_draws
from ringfence.inside.rehearsal import PLAIN, WITH_CONTEXT, find_places, rehearsal_for, rehearse_declaring
from ringfence.inside.spare import Prepared, Repertoire
from ringfence.inside.unchanged import let_go_of_unchanged
from ringfence.kernel import cgroups, limits, namespaces, seccomp

SPARE, IMPORT = b"\1", b"\2"
GO_ON = b"\1"
_CONTROL, _GATES = 3, 4
# For the import and for some twenty thousand spares; what an import leaves running does not run for ever.
_CPU_SECONDS = 60
# Counted over the zygote and all its spares together; each spare has its own, lower limit.
_PROCESSES = 4096
_OPEN_FILES = 256
# So many are born before this process is put in order, unless nobody asks for as many.
_FIRST_SPARES = 4
# And so many more before it takes the time to grow lighter, some ten milliseconds: many agents call a tool once. While
# somebody asks without a pause, it is put off for so many after them.
_SPARES_WORTH_IT = 4
_SPARES_IN_A_HURRY = 64
Served = tuple[Layout, str]  # what the spares are to hold, and the module to import
_NOTHING_YET = Repertoire(tools={}, rehearsal=None)
_MOST_ANCILLARY = socket.CMSG_SPACE(MOST_DESCRIPTORS * DESCRIPTOR.size)


def wait_for_order(theirs: socket.socket, *, warden: int, below: Bedrock) -> NoReturn:
    """Wait for an order, confine while the warden builds the root, and serve."""
    try:
        gates = socket.socket(fileno=_moved(theirs.detach(), to=_GATES))
        limits.close_all_except((0, 1, 2, _GATES))
        if not select.select([gates], [], [], 0)[0]:
            # A confinement and an import write to the pages that these do: they are copied while nobody waits.
            spare.rehearse()
            rehearse_declaring()
        heard = ordering.hear(gates)
    except BaseException:
        os._exit(1)
    if heard is None:
        os._exit(0)
    channel, *doors = heard.descriptors
    for door in doors:
        cgroups.enter(door)
    limits.close_all_except((0, 1, 2, _moved(channel, to=_CONTROL), _GATES))
    _serve(partial(_confine, heard.order, gates=gates), warden=warden, below=below)


def run_confined(order: Order, *, channel: int, warden: int, below: Bedrock) -> NoReturn:
    """Without namespaces: confine, and serve."""
    limits.close_all_except((0, 1, 2, _moved(channel, to=_CONTROL)))
    _serve(partial(_confine_without_namespaces, order, warden=warden), warden=warden, below=below)


def _serve(confine: Callable[[], Served], *, warden: int, below: Bedrock) -> NoReturn:
    """Confine, let the posture be measured, import, then bear spares until the host is gone."""
    control = socket.socket(fileno=_CONTROL)
    try:
        layout, module = confine()
        brood = _Brood(control, layout=layout, warden=warden)
        wire.send(_CONTROL, wire.pack(wire.Kind.READY))
        for asked in brood.births(_NOTHING_YET):
            if asked == IMPORT:
                break
        repertoire = _import(module, when=layout.imports)
        forget_draws()
        births = brood.births(repertoire)
        next(births)  # for whoever had the jail built, and waits
        _bear_until_silence(births, most=_FIRST_SPARES - 1)
        repertoire = _put_in_order(repertoire, code=below.code)
        births = brood.births(repertoire)
        for _ in range(_SPARES_WORTH_IT):
            next(births)
        _bear_until_silence(births, most=_SPARES_IN_A_HURRY)
        let_go_of_unchanged(below, bear=brood.birth.give)
        repertoire = _put_in_order(repertoire, code=below.code)
        for _ in brood.births(repertoire):
            continue
    except BaseException as failure:  # an import can raise anything, and the host must hear of it
        wire.send(_CONTROL, wire.pack(wire.Kind.FAULT, describe_fault(failure)))
    finally:
        os._exit(1)


def _moved(descriptor: int, *, to: int) -> int:
    return descriptor if descriptor == to else os.dup2(descriptor, to, inheritable=False)


def _confine(order: Order, *, gates: socket.socket) -> Served:
    """Give up what import-time code must not have, while the warden builds the root; gives what is to be served."""
    layout = order.layout
    _set_up(layout, source=SOURCE_FOLDER)
    _pass(gates)
    namespaces.become(INNER_ID, gid=INNER_ID)
    namespaces.set_dumpable("hidden")
    limits.set_no_new_privileges()
    limits.drop_capabilities()
    seccomp.install(filters(layout.binds, layout.clients).stage_a)
    _pass(gates)
    gates.close()
    os.chdir("/")
    return layout, order.module


def _confine_without_namespaces(order: Order, *, warden: int) -> Served:
    layout = confined.widened(order)
    _set_up(layout, source=order.source)
    os.chdir("/")
    confined.bind_zygote(layout, warden=warden)
    return layout, order.module


def _pass(gates: socket.socket) -> None:
    """Wait until the warden is as far: first that there are ids, then that the root stands."""
    if gates.recv(1) != GO_ON:
        raise OSError("the warden is gone")


def _set_up(layout: Layout, *, source: str) -> None:
    os.environ.clear()
    os.environ.update(layout.environment)
    sys.path[:] = [source, *layout.import_path]
    sys.argv[:] = ["tool"]
    bounds = layout.bounds
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, max(_OPEN_FILES, bounds.open_files)),
        (resource.RLIMIT_NPROC, _PROCESSES),
        (resource.RLIMIT_DATA, bounds.memory_bytes),
        # A spare, which counts from zero, cannot raise what it inherits.
        (resource.RLIMIT_CPU, max(_CPU_SECONDS, bounds.cpu_seconds + 1)),
    ):
        resource.setrlimit(kind, (value, value))


def _import(module: str, *, when: Literal["once", "in every call"]) -> Repertoire:
    """Import the tools and say so; those that every call imports anew are not known here."""
    if when == "in every call":
        _say_imported({})
        return Repertoire(tools=ImportedWhenAsked(module), rehearsal=WITH_CONTEXT)
    tools = import_tools(module)
    _say_imported(tools)
    made = [tool.implementation for tool in tools.values() if tool.implementation is not None]
    return Repertoire(
        tools=tools,
        models=tuple(each.signature.input_model for each in made),
        rehearsal=rehearsal_for(tools),
        awaits=any(inspect.iscoroutinefunction(each.function) for each in made),
    )


def _say_imported(tools: Mapping[str, Tool]) -> None:
    wire.send(_CONTROL, wire.pack(wire.Kind.IMPORTED, json.dumps(fingerprints(tools)).encode()))


def _put_in_order(repertoire: Repertoire, *, code: Sequence[Range]) -> Repertoire:
    """Leave to the spares what they need and no more: an import crowds out what Python remembered of where it finds
    things, which every spare would look for again, and every spare would inherit the code that ran for it alone."""
    let_go(code)
    try:
        spare.rehearse_life()
        serve.rehearse_call(repertoire.rehearsal or PLAIN)
        find_places(repertoire.models)
    except Exception:  # an import can have put its own functions in the place of these, good for a call alone
        return replace(repertoire, rehearsal=None)
    return repertoire


class _Brood:
    """The spares of one zygote: what is the same in all of them is worked out before the first."""

    def __init__(self, control: socket.socket, *, layout: Layout, warden: int) -> None:
        self._control = control
        self._layout = layout
        self._warden = warden
        self._prepared = spare.prepare(layout)
        self._berths = Berths()
        self._confined = layout.posture == "confined"
        self.birth = namespaces.Birth(confined.SPARE_FLAGS if self._confined else spare_flags(layout.clients))

    def births(self, repertoire: Repertoire) -> Generator[bytes]:
        """A spare for every request that is for one, and each request once it is done.

        What a birth takes is at hand before it: after every birth, each page that is written to is copied once more,
        and Python writes to whatever it looks up. A child would even look it up for the first time.
        """
        receive, berth_of, give, live = self._control.recvmsg, self._berths.of, self.birth.give, spare.run
        berth: Berth | None = None
        given: tuple[Layout, Repertoire, Prepared, Berth, int] | None = None
        while True:
            request, ancillary, _, _ = receive(1, _MOST_ANCILLARY)
            if not request:
                os._exit(0)
            if request == SPARE:
                wanted = berth_of(ancillary)
                if given is None or wanted is not berth or self._confined:
                    berth, given = wanted, (self._layout_now(), repertoire, self._prepared, wanted, self._warden)
                if give() == 0:
                    live(*given)
                wanted.let_go()
            yield request

    def _layout_now(self) -> Layout:
        """Without namespaces, how many processes a spare may have is said with every request."""
        return confined.with_allowance(self._layout, control=_CONTROL) if self._confined else self._layout


def _bear_until_silence(births: Iterator[bytes], *, most: int) -> None:
    """Bear a spare for every request until nobody asks for a while, but no more than so many."""
    silence = Moment(_CONTROL)
    for _ in range(most):
        if silence.passes_in_silence():
            return
        next(births)
