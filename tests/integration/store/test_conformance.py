"""SQLite and PostgreSQL are stores like any other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ringfence.store import SqliteStore
from ringfence.store.postgres import PostgresStore
from ringfence.testing.standing_suite import StandingSuite
from ringfence.testing.storage_suite import StorageSuite
from ringfence.testing.store_samples import Clock, OpenStore
from ringfence.testing.store_suite import StoreSuite
from tests.cluster import Cluster
from tests.integration.store.raw import KEY, Place


@pytest.mark.req(
    "DB-1", "DB-2", "AUD-1", "AUD-2", "APR-1", "APR-2", "APR-3", "APR-4", "APR-5", "APR-8", "OPS-8", "STO-1", "VIEW-6"
)
class TestSqlite(StoreSuite, StandingSuite, StorageSuite):
    @pytest.fixture
    async def open_store(self, tmp_path: Path, clock: Clock) -> AsyncIterator[OpenStore]:
        place = Place(folder=tmp_path, clock=clock)
        opened: list[SqliteStore] = []

        async def open_one() -> SqliteStore:
            opened.append(place.open())
            return opened[-1]

        yield open_one
        for store in opened:
            await store.close()


@pytest.mark.req(
    "DB-1", "DB-2", "AUD-1", "AUD-2", "APR-1", "APR-2", "APR-3", "APR-4", "APR-5", "APR-8", "OPS-8", "STO-1", "VIEW-6"
)
class TestPostgres(StoreSuite, StandingSuite, StorageSuite):
    @pytest.fixture
    async def open_store(
        self, tmp_path: Path, clock: Clock, cluster: Cluster, database: str
    ) -> AsyncIterator[OpenStore]:
        opened: list[PostgresStore] = []

        async def open_one() -> PostgresStore:
            url = cluster.url(database, user="person")
            opened.append(PostgresStore.open(url, signing_key=KEY, anchor=tmp_path / "anchor.log", now=clock))
            return opened[-1]

        yield open_one
        for store in opened:
            await store.close()
