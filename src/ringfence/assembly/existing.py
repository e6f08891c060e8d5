"""What exists on this host of the things that tools say they cannot do without.

Takes: the registered tools and the names of secrets whose source gave a value.  Gives: the requirements that are met.
Never: sees a secret's value.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Set

from ringfence.contract.requirements import Requirement
from ringfence.registry.registry import RegisteredTool


def existing_requirements(tools: Iterable[RegisteredTool], *, secrets: Set[str]) -> frozenset[Requirement]:
    """Those of the tools' requirements that this host meets; a server is none of them yet."""
    wanted = {needed for tool in tools for needed in tool.tool.available}
    return frozenset(needed for needed in wanted if _exists(needed, secrets))


def _exists(needed: Requirement, secrets: Set[str]) -> bool:
    if needed.kind == "binary":
        return shutil.which(needed.name) is not None
    return needed.kind == "secret" and needed.name in secrets
