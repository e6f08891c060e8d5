"""What the jail may reach for one call: declared ∩ permitted, for all five categories.

Takes: a tool's needs and the agent's permits.  Gives: a `Grant`, resolved for a call of now.
Never: runs a tool without something that it declared; an empty intersection is a refusal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Capability, Files, Kind, Network, Paths, Processes, Secrets, Storage
from ringfence.contract.remembering import remembered
from ringfence.contract.safety import Egress
from ringfence.errors import CallRefused

Way: TypeAlias = Literal["mediated", "inspected", "opaque"]
_ON_DISK: frozenset[Kind] = frozenset({"files", "processes"})


@dataclass(frozen=True, kw_only=True)
class Grant:
    """The capabilities of one call, each already narrowed; `way` is how the tool's own clients leave, if they may."""

    capabilities: tuple[Capability, ...]
    way: Way | None = None

    @remembered
    def kinds(self) -> frozenset[Kind]:
        return frozenset(capability.kind for capability in self.capabilities)

    @remembered
    def is_on_disk(self) -> bool:
        """Whether files or programs of the machine belong to it."""
        return not self.kinds.isdisjoint(_ON_DISK)

    def document(self) -> list[dict[str, Any]]:
        return [self._spelled(capability) for capability in self.capabilities] if self.capabilities else []

    def _spelled(self, capability: Capability) -> dict[str, Any]:
        spelled = capability.document()
        return {**spelled, "way": self.way} if capability.kind == "network" and self.way else spelled


NOTHING = Grant(capabilities=())


def resolve_grant(tool: str, needs: Iterable[Capability], *, permits: Permits, egress: Egress = Egress.NONE) -> Grant:
    """The grant for one call, or `not_available` naming the category of which nothing is left."""
    if not needs:
        return NOTHING
    capabilities = tuple(_narrowed(tool, need, permits) for need in needs)
    return Grant(capabilities=capabilities, way=way_out(capabilities, egress=egress))


def only_asking(grant: Grant) -> Grant:
    """The same reach, with nothing left that could change anything: what a question about an earlier call is given.

    Rows of storage can be read; the desk that answers for them refuses the rest. A revealed value needs a vote.
    """
    left = tuple(each for need in grant.capabilities if (each := _without_writing(need)) is not None)
    network = any(capability.kind == "network" for capability in left)
    return Grant(capabilities=left, way="inspected" if network else None)


def _without_writing(capability: Capability) -> Capability | None:
    match capability:
        case Files():
            return Files(read=(*_listed(capability.read), *_listed(capability.write)))
        case Secrets():
            return None if capability.reveal else capability
        case _:
            return capability


def _listed(paths: Paths) -> tuple[str, ...]:
    """Paths of a grant, which names every one; what an agent still had to name is none."""
    return paths if isinstance(paths, tuple) else ()


def way_out(capabilities: Iterable[Capability], *, egress: Egress) -> Way | None:
    """How a tool's own client leaves: unread only where nothing has to be held or placed on the wire."""
    if egress is Egress.NONE:
        return None
    guarded = any(isinstance(need, Secrets) and not need.reveal for need in capabilities)
    return "inspected" if guarded or egress is Egress.READ_ONLY else "opaque"


def _narrowed(tool: str, need: Capability, permits: Permits) -> Capability:
    left = _intersection(need, permits)
    if left is None or left.is_empty or _lost_a_side(need, left):
        message = f"tool `{tool}` needs `{need.kind}`, and nothing that it declares is permitted to this agent"
        raise CallRefused(message, code="not_available")
    return left


def _intersection(need: Capability, permits: Permits) -> Capability | None:
    match need:
        case Network():
            return need.intersect(permits.network)
        case Secrets():
            return need.intersect(permits.secrets)
        case Files():
            return need.intersect(permits.files)
        case Processes():
            return need.intersect(permits.processes)
        case Storage():
            return next((need for permitted in permits.storage if permitted.covers(need)), None)


def _lost_a_side(need: Capability, left: Capability) -> bool:
    """Reading that survived does not make up for writing that was declared and is gone."""
    if not isinstance(need, Files) or not isinstance(left, Files):
        return False
    return bool(need.read and not left.read) or bool(need.write and not left.write)
