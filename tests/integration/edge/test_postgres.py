"""psycopg speaks with a real PostgreSQL through the edge, and with no other."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

import pytest

from ringfence.contract.capabilities import Network
from ringfence.contract.safety import Egress
from tests.cluster import Cluster
from tests.integration.edge.conftest import Places
from tests.integration.edge.yard import run_client

DATABASE, ADDRESS = "db.example.com", "93.184.216.40"
DSN = f"host={DATABASE} port=5432 user=postgres dbname=postgres"


@pytest.fixture
def with_database(places: Places, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Places:
    """The cluster listens on a socket file; behind the address of the world stands that."""
    before = places.world.dial

    async def dial(addresses: Sequence[str], port: int) -> socket.socket:
        if (list(addresses), port) != ([ADDRESS], 5432):
            return await before(addresses, port)
        made = socket.socket(socket.AF_UNIX)
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, str(cluster.folder / ".s.PGSQL.5432"))
        return made

    places.world.names[DATABASE] = [ADDRESS]
    monkeypatch.setattr(places.world, "dial", dial)
    return places


@pytest.mark.req("NET-2")
async def test_psycopg_asks_a_real_database(with_database: Places) -> None:
    ran = await run_client(with_database.world, "with_psycopg", DSN, network=Network(f"{DATABASE}:5432"))
    assert (ran.raised, ran.gave, ran.codes) == (None, 42, [])
    assert [(line["host"], line["port"], line["way"]) for line in ran.effects["hosts"]] == [(DATABASE, 5432, "opaque")]


@pytest.mark.req("NET-1", "NET-2")
async def test_psycopg_does_not_reach_a_database_that_is_not_listed(with_database: Places) -> None:
    ran = await run_client(with_database.world, "with_psycopg", DSN, network=Network("other.example.com:5432"))
    assert (ran.raised is not None, with_database.world.asked) == (True, [])


@pytest.mark.req("NET-5")
async def test_read_only_egress_does_not_reach_a_database_at_all(with_database: Places) -> None:
    ran = await run_client(
        with_database.world, "with_psycopg", DSN,
        network=Network(f"{DATABASE}:5432"), way="inspected", egress=Egress.READ_ONLY,
    )  # fmt: skip
    assert (ran.raised is not None, set(ran.codes)) == (True, {"egress_not_enforceable"})
