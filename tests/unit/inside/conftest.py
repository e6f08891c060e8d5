"""Paths are held both ways: by the kernel's own rule, and step by step where a filter hides that call."""

from __future__ import annotations

import errno
from typing import NoReturn

import pytest


def hidden(*_: object, **__: object) -> NoReturn:
    """What a filter answers for a call that it hides."""
    raise OSError(errno.ENOSYS, "openat2: Function not implemented")


@pytest.fixture(params=["kernel", "steps"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which way a path is opened by."""
    if request.param == "steps":
        monkeypatch.setattr("ringfence.inside.steps.open_at", hidden)
    chosen: str = request.param
    return chosen
