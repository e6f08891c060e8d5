"""A shop to type in: the project of `ringfence init`, its tools accepted, fresh for every test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.acceptance.cli.typed import Shop, typed


@pytest.fixture(scope="session")
def accepted_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("accepted") / "shop"
    assert typed("init", str(folder), cwd=folder.parent).code == 0
    accepted = typed("check", "--accept", "--as", "bob", cwd=folder)
    assert accepted.code == 0, accepted
    return folder


@pytest.fixture
def shop(accepted_shop: Path, tmp_path: Path) -> Shop:
    shutil.copytree(accepted_shop, tmp_path / "shop")
    return Shop(folder=tmp_path / "shop")


@pytest.fixture
def new_shop(tmp_path: Path) -> Shop:
    """Just made; nobody has accepted anything."""
    assert typed("init", "shop", cwd=tmp_path).code == 0
    return Shop(folder=tmp_path / "shop")
