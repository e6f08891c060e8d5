"""Which needs a jail without namespaces can hold, what holds each there, and when it cannot.

Takes: the needs of a call, its layout, and the control groups of this machine.  Gives: nothing, or a refusal by name.
Never: lets a need pass that has no row, or that its row does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from ringfence.contract.capabilities import Kind
from ringfence.errors import CallRefused
from ringfence.inside.layout import SCRATCH, Layout
from ringfence.kernel import cgroups

_REMEDY = "`ringfence doctor` says what is missing and how to get it"

Obstacle: TypeAlias = Callable[[Layout, cgroups.Hierarchy], CallRefused | None]


@dataclass(frozen=True)
class Holding:
    """One need without namespaces: whether it is held, and by what, or why it is not."""

    need: Kind
    state: Literal["held", "refused"]
    why: str


HOLDINGS: tuple[Holding, ...] = (
    Holding("files", "held", "Landlock: a rule for each granted file or folder, known by its identity; root's jails "
            "run as their owner, who is not root"),
    Holding("network", "held", "seccomp: the kernel asks the edge before every connection, and the edge joins the "
            "tool's own socket to itself"),
    Holding("processes", "refused", "without mounts a listed program's loader runs every file that can be read, "
            "listed or not"),
    Holding("secrets", "held", "a tool has names for them and no value; the edge puts the values in, outside"),
    Holding("storage", "held", "the host keeps it; what is asked and answered goes over the call's own channel"),
)  # fmt: skip


def _everybodys_folder(layout: Layout, _hierarchy: cgroups.Hierarchy) -> CallRefused | None:
    """Where others keep files too, a rule for the whole would open them; and a jail is measured there."""
    wide = [each for each in layout.granted if PurePosixPath(SCRATCH).is_relative_to(each.source)]
    if not wide:
        return None
    return refusal(
        f"`{SCRATCH}` lies in what was granted, and is everybody's", remedy="grant a folder of the agent's own"
    )


# What may still be in the way of a need that is held: of this call's layout, or of this machine.
OBSTACLES: Mapping[Kind, Obstacle] = {"files": _everybodys_folder}


def require_enforceable(kinds: Collection[str], *, layout: Layout, hierarchy: cgroups.Hierarchy) -> None:
    """Refuse with `not_enforceable` unless every need is held."""
    held = {row.need for row in HOLDINGS if row.state == "held"}
    missing = sorted(set(kinds) - held)
    if missing:
        raise refusal(f"the posture `confined` does not hold {_listed(missing)}: {_why(missing[0])}")
    for kind, obstacle in OBSTACLES.items():
        found = obstacle(layout, hierarchy) if kind in kinds else None
        if found is not None:
            raise found


def refusal(message: str, *, remedy: str = _REMEDY) -> CallRefused:
    return CallRefused(message, code="not_enforceable", remedy=remedy)


def _listed(kinds: Collection[str]) -> str:
    return ", ".join(f"`{kind}`" for kind in kinds)


def _why(kind: str) -> str:
    return next((row.why for row in HOLDINGS if row.need == kind), "nothing here knows it")
