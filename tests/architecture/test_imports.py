"""The import laws hold, and each of them breaks when it is broken on purpose."""

from __future__ import annotations

import graphlib
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grimp
import pytest

from tests.architecture.source import ROOT

LINT_IMPORTS = Path(sys.executable).parent / "lint-imports"


def contracts() -> dict[str, dict[str, Any]]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return {contract["id"]: contract for contract in table["contracts"]}


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "240", "NO_COLOR": "1"}
    return subprocess.run(
        [str(LINT_IMPORTS), "--no-cache"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@dataclass(frozen=True, kw_only=True)
class House:
    """A copy of the source that a test may spoil."""

    folder: Path

    def add(self, module: str, *, text: str) -> None:
        path = self.folder / "src" / (module.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def house(tmp_path: Path) -> House:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tests" / "architecture").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "architecture" / "rooms.py", tmp_path / "tests" / "architecture")
    return House(folder=tmp_path)


@pytest.mark.req("HOUSE-1", "HOUSE-2", "HOUSE-3", "HOUSE-4")
def test_the_import_laws_hold() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 kept, 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("law", "module", "imported"),
    [
        pytest.param("layers", "ringfence.errors_of_taste", "ringfence.errors", marks=pytest.mark.req("HOUSE-1")),
        pytest.param("layers", "ringfence.contract.intruder", "ringfence.policy.low", marks=pytest.mark.req("HOUSE-1")),
        pytest.param("layers", "ringfence.store.intruder", "ringfence.sandbox.low", marks=pytest.mark.req("HOUSE-1")),
        pytest.param("stages", "ringfence.policy.intruder", "sqlite3", marks=pytest.mark.req("HOUSE-2")),
        pytest.param("stages", "ringfence.audit.intruder", "subprocess", marks=pytest.mark.req("HOUSE-2")),
        pytest.param("stages", "ringfence.runtime.intruder", "socket", marks=pytest.mark.req("HOUSE-2")),
        pytest.param("inside", "ringfence.inside.intruder", "ringfence.policy.low", marks=pytest.mark.req("HOUSE-3")),
        pytest.param("inside", "ringfence.inside.intruder", "ringfence.sanitise.low", marks=pytest.mark.req("HOUSE-3")),
        pytest.param(
            "adapters", "ringfence.store.intruder", "ringfence.runtime.pipeline", marks=pytest.mark.req("HOUSE-4")
        ),
        pytest.param(
            "adapters", "ringfence.tools.intruder", "ringfence.runtime.session", marks=pytest.mark.req("HOUSE-4")
        ),
    ],
)
def test_a_forbidden_import_breaks_its_law(house: House, law: str, module: str, imported: str) -> None:
    if imported.startswith("ringfence.") and imported != "ringfence.errors":
        house.add(imported, text="")
    house.add(module, text=f"import {imported}\n")
    done = lint_imports(house.folder)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{contracts()[law]['name']} BROKEN" in done.stdout
    assert module.rpartition(".")[2] in done.stdout


@pytest.mark.req("HOUSE-1")
def test_the_laws_name_the_same_rooms() -> None:
    laws = contracts()
    layers = [room.strip(" ()") for line in laws["layers"]["layers"] for room in line.split("|")]
    rooms = {f"ringfence.{room}" for room in layers}
    named = {name for law in ("adapters", "stages", "inside") for name in laws[law]["source_modules"]}
    allowed_inside = {f"ringfence.{room}" for room in ("inside", "kernel", "contract", "errors")}
    assert named <= rooms
    assert set(laws["inside"]["forbidden_modules"]) == rooms - allowed_inside


@pytest.mark.req("HOUSE-1")
def test_no_module_imports_itself_by_a_detour() -> None:
    graph = grimp.build_graph("ringfence")
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len([*graphlib.TopologicalSorter(imports).static_order()]) >= len(imports)
