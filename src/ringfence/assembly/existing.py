"""What exists on this host of the things that tools say they cannot do without.

Takes: the registered tools and the configured secrets.  Gives: the requirements that are met.
Never: reads a secret's value.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from ringfence.assembly.config.model import SecretPlace
from ringfence.contract.requirements import Requirement
from ringfence.registry.registry import RegisteredTool


def existing_requirements(
    tools: Iterable[RegisteredTool], *, secrets: Mapping[str, SecretPlace]
) -> frozenset[Requirement]:
    """Those of the tools' requirements that this host meets; a server is none of them yet."""
    wanted = {needed for tool in tools for needed in tool.tool.available}
    return frozenset(needed for needed in wanted if _exists(needed, secrets))


def _exists(needed: Requirement, secrets: Mapping[str, SecretPlace]) -> bool:
    if needed.kind == "binary":
        return shutil.which(needed.name) is not None
    place = secrets.get(needed.name) if needed.kind == "secret" else None
    if place is None:
        return False
    return place.at in os.environ if place.kind == "env" else Path(place.at).is_file()
