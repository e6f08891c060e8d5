"""A workspace for the tools, which they begin in as in a jail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.tools.bench_of import Bench


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    monkeypatch.chdir(workspace)
    (tmp_path / "outside.txt").write_text("a secret\n")
    return Bench(workspace)
