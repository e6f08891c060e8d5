"""Libraries work through the edge as their documentation writes them, and reach no host that is not listed."""

from __future__ import annotations

import pytest

from ringfence.contract.capabilities import Network
from ringfence.contract.safety import Egress
from ringfence.policy.grant import Way
from tests.integration.edge.conftest import Places
from tests.integration.edge.world import API, OTHER
from tests.integration.edge.yard import run_client

pytestmark = pytest.mark.req("NET-1", "NET-2")

LIBRARIES = ("urllib", "requests", "httpx", "httpx_async", "httpx_http2", "aiohttp", "urllib3")
WAYS: tuple[tuple[Way, Egress], ...] = (
    ("opaque", Egress.WRITE),
    ("inspected", Egress.WRITE),
    ("inspected", Egress.READ_ONLY),
)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("way", "egress"), WAYS)
async def test_a_library_reaches_the_listed_host_and_its_own_checks_hold(
    places: Places, library: str, way: Way, egress: Egress
) -> None:
    network = Network(API)
    ran = await run_client(
        places.world, f"with_{library}", f"https://{API}/x", network=network, way=way, egress=egress, roots=places.roots
    )
    assert (ran.raised, ran.gave) == (None, "hello")
    assert places.secure.requests == ["GET /x HTTP/1.1"]
    assert [(line["host"], line["way"], line["connections"]) for line in ran.effects["hosts"]] == [(API, way, 1)]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_library_does_not_reach_an_unlisted_host(places: Places, library: str, scheme: str) -> None:
    ran = await run_client(
        places.world, f"with_{library}", f"{scheme}://{OTHER}/", network=Network(API), roots=places.roots
    )
    assert ran.raised is not None
    assert (places.unlisted.connections, places.world.asked, places.world.dialled) == (0, [], [])
    assert ran.codes == ["host_not_allowed"]


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_library_reaches_the_listed_host_without_tls(places: Places, library: str) -> None:
    ran = await run_client(places.world, f"with_{library}", f"http://{API}/", network=Network(API), roots=places.roots)
    assert (ran.raised, ran.gave) == (None, "hello")
    assert places.plain.requests == ["GET / HTTP/1.1"]
