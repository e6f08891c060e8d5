"""What a call came to, in one of the codes: every byte and every exit status is read with suspicion.

Takes: everything the host saw of one call.  Gives: the reply's bytes or a fault.  Never: prefers what a tool says of
itself to what the kernel measured.
"""

from __future__ import annotations

import os
import signal
from typing import Any

from ringfence.contract.values import NotPlain, parse_json
from ringfence.execution.sandbox import Fault
from ringfence.inside import wire
from ringfence.inside.layout import Bounds
from ringfence.sandbox.exchange import Record, Said
from ringfence.sandbox.groups import Used

# What code beside the tool may say of a call; anything else from there is not believed.
TOLD_FROM_INSIDE = frozenset(
    {
        "tool_error",
        "input_invalid",
        "output_invalid",
        "output_limit",
        "memory_limit",
        "disk_limit",
        "pids_limit",
        "not_available",
        "secret_not_declared",
        "path_not_reachable",
        "binary_not_allowed",
        "storage_quota",
        "secret_misplaced",
        "host_not_allowed",
        "egress_not_enforceable",
        "wall_limit",
        "protocol_error",
    }
)
# The kernel enforces the limit by ticks and reports exact time; under load the two differ by a tenth and more. Who
# says itself that the kernel warned it is believed, unless it cannot have come anywhere near.
_NEARLY = 0.75
_NEAR_ENOUGH_IF_WARNED = 0.25
_WARNED = (128 + signal.SIGXCPU) << 8
_MOST_FAULT = 65_536


class Reading:
    """One of: a reply with an optional wording for the model, or a fault with an optional trace."""

    def __init__(
        self,
        *,
        reply: bytes | None = None,
        for_model: str | None = None,
        fault: Fault | None = None,
        trace: str = "",
    ) -> None:
        self.reply = reply
        self.for_model = for_model
        self.fault = fault
        self.trace = trace


def read(said: Said, *, bounds: Bounds) -> Reading:
    """The one meaning of what was seen."""
    if said.fault is not None:
        return _fault(*said.fault)
    if said.ended == "unknown":
        return _fault("protocol_error", "nobody can say how the process ended")
    if said.record is not None and (said.record.status != 0 or said.frame is None):
        return _exceeded(said.record, bounds=bounds, used=said.used) or _fault("protocol_error", _ending(said.record))
    if said.frame is None:
        return _fault("protocol_error", "the process ended without a reply")
    return _frame(*said.frame)


def _exceeded(record: Record, *, bounds: Bounds, used: Used | None) -> Reading | None:
    if used is not None and used.memory_kills:
        return _fault("memory_limit", f"the tool used more than {bounds.memory_bytes} bytes of memory")
    enough = _NEAR_ENOUGH_IF_WARNED if record.status == _WARNED else _NEARLY
    if record.cpu_seconds >= bounds.cpu_seconds * enough:
        return _fault("cpu_limit", f"the tool used {record.cpu_seconds:.1f} seconds of CPU time")
    return None


def _ending(record: Record) -> str:
    code = os.waitstatus_to_exitcode(record.status)
    if code >= 0:
        return f"the process ended with status {code} and no reply"
    return f"the process ended with {signal.Signals(-code).name}"


def _frame(kind: wire.Kind, body: bytes) -> Reading:
    if kind is wire.Kind.OUTPUT:
        return Reading(reply=body)
    try:
        if kind is wire.Kind.RESULT:
            return _result(parse_json(body, size=len(body)))
        if kind is wire.Kind.FAULT:
            return _told(parse_json(body, size=_MOST_FAULT))
    except (NotPlain, KeyError, TypeError) as problem:
        return _fault("protocol_error", f"the reply is not well-formed: {type(problem).__name__}")
    return _fault("protocol_error", f"a reply is never a frame of kind {kind.name}")


def _result(document: Any) -> Reading:
    output, for_model = document["output"], document["for_model"]
    if type(output) is not str or not (for_model is None or type(for_model) is str) or len(document) != 2:
        return _fault("protocol_error", "the reply is not well-formed")
    return Reading(reply=output.encode(), for_model=for_model)


def _told(document: Any) -> Reading:
    code, message, trace = document["code"], document["message"], document["trace"]
    if code not in TOLD_FROM_INSIDE or type(message) is not str or type(trace) is not str or len(document) != 3:
        return _fault("protocol_error", "the reply is not well-formed")
    return Reading(fault=Fault(code=code, message=message), trace=trace)


def _fault(code: str, message: str) -> Reading:
    return Reading(fault=Fault(code=code, message=message))
