"""Process 2 of a jail: it gives up what it can, imports the tool, and forks a spare for every call.

Takes: an order, then one request per spare.  Gives: the fingerprints of what it imported, and spares.
Never: imports before it is under stage A, or serves a call itself.
"""

from __future__ import annotations

import inspect
import json
import os
import resource
import socket
import sys
from collections import deque
from collections.abc import Mapping
from typing import NoReturn

from ringfence.contract.tool import Tool
from ringfence.inside import confined, spare, wire
from ringfence.inside.describe import fingerprints
from ringfence.inside.faults import describe_fault
from ringfence.inside.filters import filters, spare_flags
from ringfence.inside.importing import ImportedWhenAsked, import_tools
from ringfence.inside.layout import SOURCE_FOLDER, Layout, Order
from ringfence.inside.rebirth import renew_in_children
from ringfence.kernel import limits, namespaces, seccomp

SPARE, IMPORT = b"\1", b"\2"
_CONTROL = 3
# For the import and for some twenty thousand spares; what an import leaves running does not run for ever.
_CPU_SECONDS = 60
# Counted over the zygote and all its spares together; each spare has its own, lower limit.
_PROCESSES = 4096
_OPEN_FILES = 256
_MOST_DESCRIPTORS = 8


def run(order: Order, *, channel: int, warden: int) -> NoReturn:
    """Confine, let the posture be measured, import, then bear spares until the host is gone."""
    control = socket.socket(fileno=_move(channel))
    try:
        layout = _confine(order, warden=warden)
        spare.prepare(layout)
        wire.send(_CONTROL, wire.pack(wire.Kind.READY))
        requests = iter(lambda: _bear(control, layout=layout, tools={}, loop=False, warden=warden), IMPORT)
        deque(requests, maxlen=0)
        renew_in_children()
        tools = import_tools(order.module) if layout.imports == "once" else ImportedWhenAsked(order.module)
        known = tools if layout.imports == "once" else {}
        wire.send(_CONTROL, wire.pack(wire.Kind.IMPORTED, json.dumps(fingerprints(known)).encode()))
        loop = _any_coroutine(known)
        while True:
            _bear(control, layout=layout, tools=tools, loop=loop, warden=warden)
    except BaseException as failure:  # an import can raise anything, and the host must hear of it
        wire.send(_CONTROL, wire.pack(wire.Kind.FAULT, describe_fault(failure)))
    finally:
        os._exit(1)


def _move(channel: int) -> int:
    os.dup2(channel, _CONTROL, inheritable=False)
    limits.close_all_except((0, 1, 2, _CONTROL))
    return _CONTROL


def _confine(order: Order, *, warden: int) -> Layout:
    """Give up what import-time code must not have; the layout that the spares are to hold."""
    layout = order.layout if order.layout.posture == "full" else confined.widened(order)
    os.environ.clear()
    os.environ.update(layout.environment)
    sys.path[:] = [SOURCE_FOLDER if layout.posture == "full" else order.source, *layout.import_path]
    sys.argv[:] = ["tool"]
    os.chdir("/")
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
    if layout.posture == "confined":
        confined.bind_zygote(layout, warden=warden)
        return layout
    limits.set_no_new_privileges()
    limits.drop_capabilities()
    seccomp.install(filters(layout.binds, layout.clients).stage_a)
    return layout


def _any_coroutine(tools: Mapping[str, Tool]) -> bool:
    made = (tool.implementation for tool in tools.values())
    return any(inspect.iscoroutinefunction(each.function) for each in made if each is not None)


def _bear(control: socket.socket, *, layout: Layout, tools: Mapping[str, Tool], loop: bool, warden: int) -> bytes:
    """Wait for a request; fork a spare if it is for one."""
    request, descriptors, _, _ = socket.recv_fds(control, 1, _MOST_DESCRIPTORS)
    if not request:
        os._exit(0)
    if request == SPARE:
        if layout.posture == "confined":
            layout = confined.with_allowance(layout, control=_CONTROL)
        if namespaces.clone(spare_flags(layout.clients) if layout.posture == "full" else confined.SPARE_FLAGS) == 0:
            spare.run(layout, tools, descriptors=descriptors, loop=loop, warden=warden)
        for descriptor in descriptors:
            os.close(descriptor)
    return request
