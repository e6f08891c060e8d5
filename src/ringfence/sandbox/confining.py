"""A blueprint for a machine without namespaces: the same grant, held by Landlock and seccomp alone.

Takes: a blueprint of the full posture, and what the tool and the configuration demand.  Gives: a blueprint that this
machine can hold, or a refusal.  Never: serves below what is demanded, or a need that it cannot hold.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from ringfence.errors import CallRefused
from ringfence.inside.confined import confined_filters
from ringfence.inside.layout import Layout, Rule
from ringfence.kernel import cgroups, landlock
from ringfence.sandbox.blueprint import Blueprint
from ringfence.sandbox.enforceable import require_enforceable
from ringfence.sandbox.footing import MOUNTED, Footing
from ringfence.sandbox.questions import environment_of

PostureName = Literal["full", "confined"]

# Variables that point to what a confined jail does not have.
_NO_SCRATCH = frozenset({"TMPDIR", "HOME"})
_REMEDY = "`ringfence doctor` says what is missing and how to get it"


def demanded(*by: PostureName) -> PostureName:
    """The strictest of what everybody demands."""
    return "full" if "full" in by else "confined"


def fitted(
    blueprint: Blueprint,
    *,
    kinds: Collection[str],
    demands: PostureName,
    lacking: str | None,
    hierarchy: cgroups.Hierarchy,
    footing: Footing = MOUNTED,
) -> Blueprint:
    """The blueprint for this machine; `lacking` is why it has no namespaces, and None where it has."""
    if lacking is None:
        return blueprint
    if demands == "full":
        message = f"the posture `full` is required, and this machine has `confined` alone: {lacking}"
        raise CallRefused(message, code="posture_insufficient", remedy=_REMEDY)
    require_enforceable(kinds, layout=blueprint.layout, hierarchy=hierarchy)
    return confine(blueprint, footing=footing)


def confine(blueprint: Blueprint, *, footing: Footing = MOUNTED) -> Blueprint:
    """The same without namespaces: what was mounted is a rule, and what only a mount could give is not there."""
    layout = blueprint.layout
    filters = confined_filters(layout.landlock_version, clients=layout.clients)
    stage_a, stage_b = filters.digests
    # There is no scratch; what remains of its bytes is the largest file that may be written where that was granted.
    largest = layout.bounds.scratch_bytes if layout.writable() else 0
    bounds = replace(layout.bounds, scratch_bytes=largest, scratch_inodes=0)
    confined = replace(
        layout,
        posture="confined",
        mounts=(),
        devices=(),
        links=(),
        files=(),
        rules=_rules(layout),
        bounds=bounds,
        environment=_environment(layout),
        stage_a=stage_a,
        stage_b=stage_b,
        workspace=footing.workspace,
        ids=footing.ids,
    )
    return replace(blueprint, layout=confined, posture="confined")


def _environment(layout: Layout) -> tuple[tuple[str, str], ...]:
    kept = {name: value for name, value in layout.environment if name not in _NO_SCRATCH}
    return tuple(sorted({**kept, **environment_of(layout)}.items()))


def _rules(layout: Layout) -> tuple[Rule, ...]:
    read = (Rule(path=mount.path, rights=landlock.READ) for mount in layout.mounts)
    return (*read, *(Rule(path=path, rights=landlock.USE_DEVICE) for path in layout.devices))
