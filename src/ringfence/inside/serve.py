"""Serves one job: reads it, checks the arguments with the author's own types, runs the function, replies once.

Takes: a channel and the imported tools.  Gives: exactly one frame.  Never: lets what a tool prints or raises become
the reply.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import GeneratorType
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, from_json

from ringfence.contract.bounds import INPUT_BYTES
from ringfence.contract.context import Context, DeclaredSecrets
from ringfence.contract.result import Result
from ringfence.contract.schema import Signature
from ringfence.contract.secret import SecretRef
from ringfence.contract.tool import Implementation, Tool
from ringfence.inside.clients import Style, clients_for
from ringfence.inside.counting import bear_marker
from ringfence.inside.describe import documents, fingerprints
from ringfence.inside.entry import run_entry
from ringfence.inside.faults import describe_fault, fault_body, invalid_input
from ringfence.inside.layout import Layout
from ringfence.inside.measure import measure
from ringfence.inside.measure_confined import measure_confined
from ringfence.inside.reconciling import Asked, answer_of, asking
from ringfence.inside.rehearsal import Rehearsal
from ringfence.inside.storage import storage_client
from ringfence.inside.wire import AT_ONCE, CHANNEL, HEADER_BYTES, LAST, Kind, Malformed, pack, receive_two, send
from ringfence.kernel.script import Script

_MOST_BYTES = (65_536, INPUT_BYTES)
_NO_CLIENTS: Mapping[str, Any] = {}
# Found once: to find the member of an enumeration by its name touches as much as a call of a function, and a function
# that is found by way of its module a page more.
_read = os.read
_JOB, _ARGUMENTS, _OUTPUT, _FAULT = Kind.JOB, Kind.ARGUMENTS, Kind.OUTPUT, Kind.FAULT


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What is the same for every job of a jail, worked out before the first; `leave` ends the process."""

    channel: int
    most_frame_bytes: int
    marked: bool
    layout: Layout | None
    leave: Script

    @classmethod
    def of(cls, layout: Layout, *, leave: Script) -> Terms:
        return cls(
            channel=CHANNEL,
            most_frame_bytes=layout.bounds.output_bytes + HEADER_BYTES,
            marked=layout.imports == "in every call",
            layout=layout,
            leave=leave,
        )


def one_job(tools: Mapping[str, Tool], terms: Terms, event_loop: asyncio.AbstractEventLoop | None) -> int:
    """Read a job, answer it and leave; gives the exit status where no job came."""
    channel = terms.channel
    try:
        job, arguments = _next_job(channel)
    except EOFError:
        return 0
    frame = _answer(job, arguments, tools=tools, event_loop=event_loop, layout=terms.layout)
    if len(frame) > terms.most_frame_bytes:
        frame = _too_much(len(frame) - HEADER_BYTES, most=terms.most_frame_bytes - HEADER_BYTES)
    _print_all()
    if terms.marked:
        bear_marker()
    send(channel, frame + LAST)
    # The host measures what was used while this process stands still, and ends it; or ends its side, where more than
    # this one has to leave.
    while _read(channel, AT_ONCE):
        continue  # an answer that came too late for whoever asked
    # Left to the kernel, the channel would be closed only after all memory is given back, and the host waits for it.
    terms.leave.play()
    return 0


def _too_much(length: int, *, most: int) -> bytes:
    return pack(_FAULT, fault_body("output_limit", f"the output has {length} bytes, more than {most}"))


def rehearse_call(rehearsal: Rehearsal) -> None:
    """Go through a call of a tool that does nothing, from the frames that ask for it on."""
    heard, said = os.pipe()
    send(said, rehearsal.frames)
    job, arguments = _next_job(heard)
    os.close(said)
    os.close(heard)
    _answer(job, arguments, tools=rehearsal.tools, event_loop=None, layout=None)
    _print_all()


def _next_job(channel: int) -> tuple[dict[str, Any], bytes]:
    (kind, body), (rest, arguments) = receive_two(channel, most=_MOST_BYTES)
    if kind is not _JOB or rest is not _ARGUMENTS:
        raise Malformed("a job is a job frame and its arguments")
    # What it remembers of strings lies in a page for each of them.
    return from_json(body, cache_strings=False), arguments


def _print_all() -> None:
    sys.stdout.flush()
    sys.stderr.flush()


def _answer(
    job: dict[str, Any],
    arguments: bytes,
    *,
    tools: Mapping[str, Tool],
    event_loop: asyncio.AbstractEventLoop | None,
    layout: Layout | None,
) -> bytes:
    match job["task"]:
        case "call" if layout is not None and layout.entry is not None:
            return run_entry(layout.entry, job=job, arguments=arguments, layout=layout)
        case "call":
            return _call(job, arguments, tools=tools, event_loop=event_loop, layout=layout)
        case "reconcile":
            return _reconcile(job, tools=tools, event_loop=event_loop, layout=layout)
        case "describe":
            return pack(_OUTPUT, json.dumps(documents(tools)).encode())
        case "fingerprints":
            return _fingerprints(tools)
        case "measure":
            return pack(_OUTPUT, json.dumps(_measured(layout)).encode())
        case unknown:
            raise Malformed(f"there is no task `{unknown}`")


def _fingerprints(tools: Mapping[str, Tool]) -> bytes:
    try:
        return pack(Kind.IMPORTED, json.dumps(fingerprints(tools)).encode())
    except BaseException as failure:  # an import can raise anything
        return pack(_FAULT, describe_fault(failure))


def _measured(layout: Layout | None) -> dict[str, Any]:
    if layout is not None and layout.posture == "confined":
        return measure_confined(layout.landlock_version, layout.granted, layout.clients)
    return measure(layout.clients if layout is not None else ())


def _call(
    job: dict[str, Any],
    arguments: bytes,
    *,
    tools: Mapping[str, Tool],
    event_loop: asyncio.AbstractEventLoop | None,
    layout: Layout | None,
) -> bytes:
    try:
        implementation = tools[job["tool"]].implementation
        if implementation is None:
            raise Malformed(f"tool `{job['tool']}` has no function")
        parsed = implementation.signature.parse(arguments)
    except ValidationError as failure:
        return pack(_FAULT, invalid_input(failure))
    except BaseException as failure:  # an author's validator can raise anything, and so can an import
        return pack(_FAULT, describe_fault(failure))
    try:
        given = _given(implementation, parsed, job=job, layout=layout)
        returned = _run(implementation, given=given, event_loop=event_loop)
        return _reply(returned, signature=implementation.signature)
    except PydanticSerializationError as failure:
        return pack(_FAULT, fault_body("output_invalid", f"the output cannot be written: {failure}"))
    except BaseException as failure:  # a tool can raise anything, SystemExit too
        return pack(_FAULT, describe_fault(failure))


def _reconcile(
    job: dict[str, Any],
    *,
    tools: Mapping[str, Tool],
    event_loop: asyncio.AbstractEventLoop | None,
    layout: Layout | None,
) -> bytes:
    """Ask the tool's own `reconcile` whether the call under this key took effect."""
    try:
        implementation = asking(tools[job["tool"]].implementation, tool=job["tool"])
        given = _given(implementation, Asked(key=job["idempotency_key"]), job=job, layout=layout)
        returned = _run(implementation, given=given, event_loop=event_loop)
        return pack(_OUTPUT, answer_of(returned, implementation=implementation))
    except BaseException as failure:  # a tool can raise anything, SystemExit too
        return pack(_FAULT, describe_fault(failure))


def _given(
    implementation: Implementation, parsed: BaseModel, *, job: dict[str, Any], layout: Layout | None
) -> dict[str, Any]:
    given: dict[str, Any] = {}
    signature = implementation.signature
    if signature.context_parameter is not None:
        given[signature.context_parameter] = Context(
            agent=job["agent"],
            session=job["session"],
            idempotency_key=job["idempotency_key"],
            clients={**_clients(implementation, layout), **_secrets(job), **_storage(job, _style(implementation))},
        )
    if signature.model_parameter is not None:
        given[signature.model_parameter] = parsed
    else:
        given.update(parsed.__dict__)
    return given


def _clients(implementation: Implementation, layout: Layout | None) -> Mapping[str, Any]:
    if layout is None or not layout.clients:
        return _NO_CLIENTS
    return clients_for(layout, style=_style(implementation))


def _style(implementation: Implementation) -> Style:
    return "awaited" if inspect.iscoroutinefunction(implementation.function) else "blocking"


def _secrets(job: dict[str, Any]) -> Mapping[str, Any]:
    """References to what was granted; none of them is a value, unless the contract has it revealed."""
    given: dict[str, dict[str, str]] | None = job.get("secrets")
    if given is None:
        return _NO_CLIENTS
    return {"secrets": DeclaredSecrets({name: SecretRef(name, **each) for name, each in given.items()})}


def _storage(job: dict[str, Any], style: Style) -> Mapping[str, Any]:
    """A client for the scopes that were granted; the host holds the call to them whatever is asked."""
    scopes: list[str] | None = job.get("storage")
    return {"storage": storage_client(scopes, style=style)} if scopes else _NO_CLIENTS


def _run(implementation: Implementation, *, given: dict[str, Any], event_loop: asyncio.AbstractEventLoop | None) -> Any:
    returned = implementation.function(**given)
    if not _can_be_awaited(returned):
        return returned
    loop = event_loop or asyncio.new_event_loop()
    return loop.run_until_complete(returned)


def _can_be_awaited(returned: object) -> bool:
    """What can be says so itself, or is a generator; to ask `inspect` of everything touches much more."""
    if hasattr(returned, "__await__"):
        return True
    return isinstance(returned, GeneratorType) and bool(returned.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE)


def _reply(returned: Any, *, signature: Signature) -> bytes:
    if not isinstance(returned, Result):
        return pack(_OUTPUT, signature.dump(returned))
    output: Any = returned.output  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    text = signature.dump(output).decode()
    return pack(Kind.RESULT, json.dumps({"output": text, "for_model": returned.for_model}).encode())
