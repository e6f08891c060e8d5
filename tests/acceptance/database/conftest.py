"""Every test of this folder runs twice: over a file of SQLite and over a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.spine.household import config
from tests.cluster import Cluster

MakeConfig = Callable[..., dict[str, Any]]


@pytest.fixture(params=["sqlite", "postgres"])
def settings(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[MakeConfig, None, None]:
    """A maker of configs, all of which name the same store."""
    # A runtime that keeps its rows on a server keeps the rest in `state` of the folder it is opened in.
    monkeypatch.chdir(tmp_path)
    sections: dict[str, Any] = {}
    undo: Callable[[], None] | None = None
    if request.param == "postgres":
        cluster: Cluster = request.getfixturevalue("cluster")
        name = cluster.database()
        sections, undo = {"store": {"url": cluster.url(name, user="person")}}, partial(cluster.drop, name)

    def make(**changes: Any) -> dict[str, Any]:
        return config(tmp_path, **{**sections, **changes})

    yield make
    if undo is not None:
        undo()
