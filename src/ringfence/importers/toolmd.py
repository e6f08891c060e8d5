"""A `TOOL.md`: the contract of an executable in any language, written as front matter.

Takes: the front matter as plain data, and the text below it.  Gives: the `Tool` and the file that is started.
Never: leaves a field unread; an unknown one is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from ringfence.contract.bounds import bound_input, close_output
from ringfence.contract.capabilities import FROM_AGENT, Capability, Files, Network, Paths, Processes, Secrets, Storage
from ringfence.contract.limits import Limits, Retry
from ringfence.contract.paths import relative_path
from ringfence.contract.requirements import parse_requirement
from ringfence.contract.safety import Egress, Safety, derive_egress
from ringfence.contract.tool import Tool
from ringfence.contract.written import Strict, WrittenLimits, WrittenRetry
from ringfence.errors import DeclarationRefused

FILE = "TOOL.md"
_FENCE = "---"


class _Paths(Strict):
    read: list[str] | Literal["from_agent"] = Field(default=[])
    write: list[str] | Literal["from_agent"] = Field(default=[])


class _Hosts(Strict):
    hosts: list[str] = Field(default=[], max_length=1_000)
    cidrs: list[str] = Field(default=[], max_length=1_000)


class _Secrets(Strict):
    names: list[str] = Field(max_length=100)
    hosts: list[str] = Field(default=[], max_length=1_000)
    at: str = "header:Authorization"
    reveal: bool = False


class _Needs(Strict):
    network: list[str] | _Hosts | Literal["from_agent"] | None = None
    secrets: _Secrets | None = None
    storage: list[Literal["tool", "session", "agent"]] = Field(default=[])
    files: _Paths | None = None
    processes: Annotated[list[str], Field(max_length=1_000)] | Literal["from_agent"] = Field(default=[])


class _FrontMatter(Strict):
    kind: Literal["tool"]
    schema_version: Literal[1]
    name: str = Field(max_length=256)
    version: str | int = Field(default="1")
    description: str | None = Field(default=None, max_length=65_536)
    permission_level: Egress | None = None
    safety_class: Safety
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    needs: _Needs = _Needs()
    entrypoint: str = Field(max_length=1_024)
    idempotency: Literal["required", "optional"] | None = None
    approval: str = Field(default="auto", max_length=128)
    retry: WrittenRetry | None = None
    limits: WrittenLimits = WrittenLimits()
    available: list[str] = Field(default=[], max_length=64)
    output: Literal["untrusted", "trusted"] = "untrusted"
    labels: list[str] = Field(default=[], max_length=64)
    posture: Literal["full", "confined"] = "confined"
    far_side_dedupes: bool = False


@dataclass(frozen=True, kw_only=True)
class ToolFolder:
    """What a `TOOL.md` declares: the contract, and the file of its folder that is started."""

    tool: Tool
    entrypoint: str


def split(text: str) -> tuple[str, str]:
    """The front matter and the text below it."""
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].strip() != _FENCE:
        raise DeclarationRefused(f"`{FILE}` does not begin with `---`", remedy="begin it with front matter")
    ends = [number for number, line in enumerate(lines[1:], start=1) if line.strip() == _FENCE]
    if not ends:
        raise DeclarationRefused(f"the front matter of `{FILE}` has no end", remedy="end it with a line of `---`")
    return "".join(lines[1 : ends[0]]), "".join(lines[ends[0] + 1 :])


def read_tool(front_matter: Mapping[str, Any], *, body: str) -> ToolFolder:
    """The contract that a front matter declares; the text below it describes the tool where no field does."""
    given = {**front_matter, "needs": _as_mapping(front_matter.get("needs") or {})}
    try:
        parsed = _FrontMatter.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise DeclarationRefused(f"`{FILE}`: `{where}`: {first['msg'].lower()}") from None
    return ToolFolder(tool=_tool(parsed, body=body), entrypoint=_entrypoint(parsed.entrypoint))


def _as_mapping(needs: Any) -> Any:
    """Needs may be a mapping, or a list of mappings with one need each."""
    if not isinstance(needs, list):
        return needs
    merged: dict[Any, Any] = {}
    for each in needs:  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(each, dict) or merged.keys() & each.keys():  # pyright: ignore[reportUnknownArgumentType]
            raise DeclarationRefused(f"`{FILE}`: `needs` is a mapping, or a list that names each need once")
        merged |= each  # pyright: ignore[reportUnknownArgumentType]
    return merged


def _tool(parsed: _FrontMatter, *, body: str) -> Tool:
    needs = tuple(_needs(parsed.needs))
    network = "declared" if any(need.kind == "network" for need in needs) else "absent"
    return Tool(
        name=parsed.name,
        description=_description(parsed, body),
        version=str(parsed.version),
        input_schema=bound_input(parsed.input_schema),
        output_schema=close_output(parsed.output_schema),
        safety=parsed.safety_class,
        egress=derive_egress(parsed.safety_class, network=network, declared=parsed.permission_level),
        idempotency=parsed.idempotency,
        needs=needs,
        approval=parsed.approval,
        retry=Retry(parsed.retry.attempts, parsed.retry.backoff) if parsed.retry else None,
        limits=Limits(**parsed.limits.model_dump()),
        available=tuple(map(parse_requirement, parsed.available)),
        output=parsed.output,
        labels=tuple(parsed.labels),
        posture=parsed.posture,
        reconciles=False,
        far_side_dedupes=parsed.far_side_dedupes,
    )


def _description(parsed: _FrontMatter, body: str) -> str:
    text = (parsed.description or body).strip()
    if not text:
        raise DeclarationRefused(
            f"`{FILE}` describes nothing", remedy="write what the tool does; it is what the model reads"
        )
    return text


def _needs(needs: _Needs) -> Iterator[Capability]:
    if needs.network == "from_agent":
        yield Network(FROM_AGENT)
    elif needs.network is not None:
        listed = needs.network if isinstance(needs.network, _Hosts) else _Hosts(hosts=needs.network)
        yield Network(*listed.hosts, cidrs=listed.cidrs)
    if needs.secrets is not None:
        secrets = needs.secrets
        yield Secrets(*secrets.names, hosts=secrets.hosts, at=secrets.at, reveal=secrets.reveal)
    yield from (Storage(scope) for scope in needs.storage)
    if needs.files is not None:
        yield Files(read=_paths(needs.files.read), write=_paths(needs.files.write))
    if needs.processes:
        yield Processes(*((FROM_AGENT,) if needs.processes == "from_agent" else needs.processes))


def _paths(paths: list[str] | Literal["from_agent"]) -> Paths:
    return FROM_AGENT if paths == "from_agent" else tuple(paths)


def _entrypoint(path: str) -> str:
    entry = relative_path(path)
    if entry in (".", FILE) or any(part.startswith(".") for part in entry.split("/")):
        raise DeclarationRefused(f"entrypoint `{path}` names no program of the folder")
    return entry
