"""A forbidden-imports contract that tolerates rooms which are not built yet.

Takes: the contract tables in `pyproject.toml`.  Gives: the contract type `forbidden_to_rooms`.
Never: forgives an import; a room counts from the moment its package exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from importlinter.contracts.forbidden import ForbiddenContract

if TYPE_CHECKING:
    from grimp import ImportGraph
    from importlinter.domain.contract import ContractCheck


class ForbiddenToRooms(ForbiddenContract):
    """import-linter's `forbidden`, with the rooms of the house that do not exist left out."""

    type_name = "forbidden_to_rooms"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        self.source_modules: Any = _built(self.source_modules, graph=graph)
        self.forbidden_modules: Any = _built(self.forbidden_modules, graph=graph)
        return super().check(graph, verbose)


def _built(modules: Any, *, graph: ImportGraph) -> set[Any]:
    return {module for module in modules if not str(module).startswith("ringfence.") or str(module) in graph.modules}
