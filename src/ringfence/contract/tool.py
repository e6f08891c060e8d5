"""A tool is a contract: what it takes, what it gives, how dangerous it is, and what it needs.

Takes: a function and a declaration.  Gives: a `Tool`, complete and consistent, or a refusal that names the gap.
Never: calls the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

from ringfence.contract.capabilities import KINDS, Capability, Files, Kind, Network, Processes, Secrets, Storage
from ringfence.contract.fingerprint import digest, fingerprint
from ringfence.contract.limits import Limits, Retry
from ringfence.contract.remembering import remembered
from ringfence.contract.requirements import Requirement, parse_requirement
from ringfence.contract.safety import CLASS_FLOORS, Egress, Safety, derive_egress, is_consequential
from ringfence.errors import DeclarationRefused

if TYPE_CHECKING:
    from ringfence.contract.reconcile import Reconciler
    from ringfence.contract.schema import Signature

Word = TypeVar("Word", Safety, Egress)
Idempotency: TypeAlias = Literal["required", "optional"]
Posture: TypeAlias = Literal["full", "confined"]

_IDEMPOTENCY: dict[str, Idempotency] = {"required": "required", "optional": "optional"}
ROUTES = ("auto", "human", "dual")
DOCUMENT_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A declared contract. Plain data, so that it can be hashed, shown, stored and described from a jail."""

    name: str
    description: str
    version: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    safety: Safety
    egress: Egress
    idempotency: Idempotency | None
    needs: tuple[Capability, ...]
    approval: str
    retry: Retry | None
    limits: Limits
    available: tuple[Requirement, ...]
    output: Literal["untrusted", "trusted"]
    labels: tuple[str, ...]
    posture: Posture
    reconciles: bool
    far_side_dedupes: bool
    implementation: Implementation | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for problem in filter(None, (_class_problem(self), _route_problem(self), _needs_problem(self))):
            raise DeclarationRefused(f"tool `{self.name}`: {problem}")

    @remembered
    def fingerprint(self) -> str:
        """The name of this exact contract."""
        return fingerprint(self.document())

    @remembered
    def description_hash(self) -> str:
        """The name of what a model reads about this tool; on record at registration and at every call."""
        return digest(self.description.encode())

    @remembered
    def consequential(self) -> bool:
        return is_consequential(self.safety, self.egress)

    def needs_of(self, kind: Kind) -> tuple[Capability, ...]:
        return tuple(need for need in self.needs if need.kind == kind)

    def document(self) -> dict[str, Any]:
        """The whole contract as JSON: what is hashed, stored, and sent out of a describing jail."""
        return {
            "schema_version": DOCUMENT_VERSION,
            "name": self.name,
            "description": self.description,
            "version": self.version,
            "input_schema": self.input_schema,
            "output_schema": self.output_schema,
            "safety": self.safety.value,
            "egress": self.egress.value,
            "idempotency": self.idempotency,
            "needs": [need.document() for need in self.needs],
            "approval": self.approval,
            "retry": self.retry.document() if self.retry else None,
            "limits": self.limits.document(),
            "available": [str(requirement) for requirement in self.available],
            "output": self.output,
            "labels": list(self.labels),
            "posture": self.posture,
            "reconciles": self.reconciles,
            "far_side_dedupes": self.far_side_dedupes,
        }


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """The author's code behind a contract; only a jail ever runs it."""

    function: Callable[..., Any]
    signature: Signature
    reconcile: Reconciler | None


def _class_problem(tool: Tool) -> str | None:
    floor = CLASS_FLOORS[tool.safety]
    if floor.hosts == "required" and not any(not need.is_empty for need in tool.needs_of("network")):
        return f"safety `{tool.safety}` needs a `Network` need that lists the hosts"
    if floor.idempotency == "required" and tool.idempotency != "required":
        return f'safety `{tool.safety}` needs `idempotency="required"`'
    if tool.consequential and tool.idempotency is None:
        return 'a tool that changes something must say `idempotency="required"` or `"optional"`'
    if tool.reconciles and not tool.consequential:
        return "`reconcile` is for a tool that changes something; no call of this one is ever in doubt"
    return None


def _route_problem(tool: Tool) -> str | None:
    if tool.approval in ROUTES or (tool.approval.startswith("pack:") and len(tool.approval) > len("pack:")):
        return None
    return f"approval route `{tool.approval}` is none of `auto`, `human`, `dual`, `pack:<name>`"


def _needs_problem(tool: Tool) -> str | None:
    for need in tool.needs:
        if need.is_empty:
            return f"need `{need.kind}` lists nothing, and an empty list allows nothing"
        if isinstance(need, Processes) and tool.safety is Safety.READ:
            if need.listed_by == "agent":
                return "binaries that are the agent's to list can be interpreters, so the tool is at least `write`"
            for binary, reason in need.interpreters():
                return f"binary `{binary}` {reason}, so the tool is at least of class `write`"
    return None


def tool(
    *,
    safety: Safety | str,
    egress: Egress | str | None = None,
    idempotency: Idempotency | None = None,
    needs: Sequence[Capability] = (),
    approval: str = "auto",
    retry: Retry | None = None,
    limits: Limits | None = None,
    name: str | None = None,
    version: str = "1",
    available: Sequence[str] = (),
    output: Literal["untrusted", "trusted"] = "untrusted",
    labels: Sequence[str] = (),
    posture: Posture = "confined",
    reconcile: Callable[..., Any] | None = None,
    far_side_dedupes: bool = False,
) -> Callable[[Callable[..., Any]], Tool]:
    """Declare a function as a tool. What is declared here is all that will be enforced, and all of it will be."""
    chosen = _one_of(Safety, safety, what="safety")
    checked = _checked_needs(needs)
    derived = derive_egress(
        chosen,
        network="declared" if any(need.kind == "network" for need in checked) else "absent",
        declared=None if egress is None else _one_of(Egress, egress, what="egress"),
    )

    def declare(function: Callable[..., Any]) -> Tool:
        title = name or str(getattr(function, "__name__", "<nameless>"))
        implementation = _implementation(function, reconcile, title=title)
        signature = implementation.signature
        return Tool(
            name=title,
            description=_description(function, title),
            version=version,
            input_schema=signature.input_schema,
            output_schema=signature.output_schema,
            safety=chosen,
            egress=derived,
            idempotency=_idempotency(idempotency),
            needs=checked,
            approval=approval,
            retry=retry,
            limits=limits or Limits(),
            available=tuple(map(parse_requirement, available)),
            output=output,
            labels=tuple(labels),
            posture=posture,
            reconciles=reconcile is not None,
            far_side_dedupes=far_side_dedupes,
            implementation=implementation,
        )

    return declare


def _implementation(
    function: Callable[..., Any], reconcile: Callable[..., Any] | None, *, title: str
) -> Implementation:
    # In the function: 60 ms of pydantic that only a declaration needs; a command that reads contracts does not.
    from ringfence.contract.reconcile import read_reconciler  # noqa: PLC0415
    from ringfence.contract.schema import read_signature  # noqa: PLC0415

    try:
        signature = read_signature(function)
        reconciler = None if reconcile is None else read_reconciler(reconcile)
    except DeclarationRefused as refused:
        raise DeclarationRefused(f"tool `{title}`: {refused.message}", remedy=refused.remedy) from refused
    return Implementation(function=function, signature=signature, reconcile=reconciler)


def _one_of(kind: type[Word], value: str, *, what: str) -> Word:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(f"`{member.value}`" for member in kind)
        raise DeclarationRefused(f"{what} `{value}` is none of {known}") from None


def _idempotency(value: str | None) -> Idempotency | None:
    if value is not None and value not in _IDEMPOTENCY:
        raise DeclarationRefused(f"idempotency `{value}` is none of `required`, `optional`")
    return None if value is None else _IDEMPOTENCY[value]


def _checked_needs(needs: Sequence[Capability]) -> tuple[Capability, ...]:
    for need in cast("Sequence[object]", needs):
        if not isinstance(need, Network | Secrets | Storage | Files | Processes):
            known = ", ".join(f"`{kind.title()}`" for kind in KINDS)
            raise DeclarationRefused(f"need `{need!r}` is none of {known}")
    return tuple(needs)


def _description(function: Callable[..., Any], title: str) -> str:
    text = (function.__doc__ or "").strip()
    if not text:
        raise DeclarationRefused(
            f"tool `{title}` has no docstring", remedy="write what the tool does; it is what the model reads"
        )
    return "\n".join(line.strip() for line in text.splitlines())
