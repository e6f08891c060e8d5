"""What one agent sees where it stands, with the terms of each tool that it called.

Takes: a view.  Gives: the terms of a tool in it.  Never: outlives the registry that the view was built from.
"""

from __future__ import annotations

from ringfence.agents.view import ToolView
from ringfence.contract.limits import Limits
from ringfence.policy.terms import Terms
from ringfence.registry.registry import Registry


class Sight:
    """One view for as long as its registry is in force; `acting` is who sees it."""

    __slots__ = ("_ceiling", "_terms", "acting", "registry", "view")

    def __init__(self, view: ToolView, *, registry: Registry, ceiling: Limits) -> None:
        self.view = view
        self.acting = view.acting
        self.registry = registry
        self._ceiling = ceiling
        self._terms: dict[str, Terms] = {}

    def terms(self, tool: str) -> Terms:
        """What holds for every call of this tool; of one that is not in the view, that there is none."""
        found = self._terms.get(tool)
        if found is None:
            view = self.view
            found = Terms(tool=view.find(tool), acting=self.acting, binding=view.binding, ceiling=self._ceiling)
            self._terms[tool] = found
        return found
