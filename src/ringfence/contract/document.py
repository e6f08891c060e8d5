"""Reads a contract back from JSON that nobody trusts.

Takes: the document that a describing jail sent or the store kept.  Gives: the `Tool` it describes.
Never: believes a field; every value goes through the same constructors that an author's declaration does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, ValidationError

from ringfence.contract.bounds import bound_input, close_output
from ringfence.contract.capabilities import (
    FROM_AGENT,
    Capability,
    Files,
    FromAgent,
    Network,
    Paths,
    Processes,
    Secrets,
    Storage,
)
from ringfence.contract.limits import Limits, Retry
from ringfence.contract.requirements import parse_requirement
from ringfence.contract.safety import Egress, Safety, derive_egress
from ringfence.contract.tool import Tool
from ringfence.contract.written import Strict, WrittenLimits, WrittenRetry
from ringfence.errors import DeclarationRefused

_FROM_AGENT_TEXT = FROM_AGENT.value
Listed: TypeAlias = Annotated[list[str], Field(max_length=1000)] | Literal["from_agent"]


class _Network(Strict):
    kind: Literal["network"]
    hosts: Listed
    cidrs: list[str] = Field(max_length=1000)


class _Secrets(Strict):
    kind: Literal["secrets"]
    names: list[str] = Field(max_length=100)
    hosts: list[str] = Field(max_length=1000)
    at: str
    reveal: bool


class _Storage(Strict):
    kind: Literal["storage"]
    scope: Literal["tool", "session", "agent"]


class _Files(Strict):
    kind: Literal["files"]
    read: list[str] | Literal["from_agent"]
    write: list[str] | Literal["from_agent"]


class _Processes(Strict):
    kind: Literal["processes"]
    binaries: Listed


class _Document(Strict):
    schema_version: Literal[1]
    name: str = Field(max_length=256)
    description: str = Field(max_length=65_536)
    version: str = Field(max_length=64)
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    safety: Safety
    egress: Egress
    idempotency: Literal["required", "optional"] | None
    needs: list[_Network | _Secrets | _Storage | _Files | _Processes] = Field(max_length=64)
    approval: str = Field(max_length=128)
    retry: WrittenRetry | None
    limits: WrittenLimits
    available: list[str] = Field(max_length=64)
    output: Literal["untrusted", "trusted"]
    labels: list[str] = Field(max_length=64)
    posture: Literal["full", "confined"]
    reconciles: bool
    far_side_dedupes: bool


def read_document(document: Mapping[str, Any]) -> Tool:
    """The contract a document describes, or a refusal; a document that is not in its own canonical form is refused."""
    try:
        parsed = _Document.model_validate(dict(document))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise DeclarationRefused(f"the description is not a contract: `{where}`: {first['msg']}") from None
    tool = _tool(parsed)
    if tool.document() != dict(document):
        raise DeclarationRefused(f"the description of `{tool.name}` is not the contract it says it is")
    return tool


def _tool(parsed: _Document) -> Tool:
    needs = tuple(map(_need, parsed.needs))
    network = "declared" if any(need.kind == "network" for need in needs) else "absent"
    return Tool(
        name=parsed.name,
        description=parsed.description,
        version=parsed.version,
        input_schema=bound_input(parsed.input_schema),
        output_schema=close_output(parsed.output_schema),
        safety=parsed.safety,
        egress=derive_egress(parsed.safety, network=network, declared=parsed.egress),
        idempotency=parsed.idempotency,
        needs=needs,
        approval=parsed.approval,
        retry=Retry(parsed.retry.attempts, parsed.retry.backoff) if parsed.retry else None,
        limits=Limits(**parsed.limits.model_dump()),
        available=tuple(map(parse_requirement, parsed.available)),
        output=parsed.output,
        labels=tuple(parsed.labels),
        posture=parsed.posture,
        reconciles=parsed.reconciles,
        far_side_dedupes=parsed.far_side_dedupes,
    )


def _need(need: _Network | _Secrets | _Storage | _Files | _Processes) -> Capability:
    match need:
        case _Network():
            return Network(*_named(need.hosts), cidrs=need.cidrs)
        case _Secrets():
            return Secrets(*need.names, hosts=need.hosts, at=need.at, reveal=need.reveal)
        case _Storage():
            return Storage(need.scope)
        case _Files():
            return Files(read=_paths(need.read), write=_paths(need.write))
        case _Processes():
            return Processes(*_named(need.binaries))


def _named(listed: Listed) -> tuple[str | FromAgent, ...]:
    return (FROM_AGENT,) if listed == _FROM_AGENT_TEXT else tuple(listed)


def _paths(paths: list[str] | Literal["from_agent"]) -> Paths:
    return FROM_AGENT if paths == _FROM_AGENT_TEXT else tuple(paths)
