"""A store of its own for each test, in a folder of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ringfence.store import SqliteStore
from ringfence.testing.store_samples import Clock, furnish
from tests.integration.store.raw import Place


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def place(tmp_path: Path, clock: Clock) -> Place:
    return Place(folder=tmp_path, clock=clock)


@pytest.fixture
async def store(place: Place) -> AsyncIterator[SqliteStore]:
    store = place.open()
    await furnish(store)
    yield store
    await store.close()
