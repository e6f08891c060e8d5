"""A tool in a real jail reaches its listed hosts through the edge and nothing else; another has no socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from ringfence.execution.sandbox import Fault
from tests.integration.edge.conftest import Places
from tests.integration.edge.jails import PERMITS, TOOLS, EdgeYard
from tests.integration.edge.world import API, API_ADDRESS, OTHER, OTHER_ADDRESS, hearing_server
from tests.integration.sandbox.driver import Yard

pytestmark = pytest.mark.req("NET-1")

LIBRARIES = ("urllib", "requests", "urllib3", "httpx", "httpx_http2")


@pytest_asyncio.fixture
async def yard(places: Places) -> AsyncIterator[EdgeYard]:
    opened = EdgeYard(state=places.world.folder / "state", world=places.world)
    try:
        await opened.load("reaching", folder=TOOLS)
        yield opened
    finally:
        await opened.close()


@pytest.mark.req("NET-2", "NET-5")
async def test_libraries_work_in_a_jail_as_they_are(yard: EdgeYard, places: Places) -> None:
    told: dict[tuple[str, str], object] = {}
    for tool, way in (("fetch", "inspected"), ("send", "opaque")):
        for library in LIBRARIES:
            gave, raw = await yard.reach(tool, library=library, url=f"https://{API}/{library}")
            network = raw.effects.network or {}
            told[tool, library] = (gave, [line["way"] for line in network["hosts"]], network["refusals"])
        assert {key: value for key, value in told.items() if key[0] == tool and value != ("hello", [way], [])} == {}
    assert places.secure.requests == [f"GET /{library} HTTP/1.1" for _ in range(2) for library in LIBRARIES]


@pytest.mark.req("NET-2")
async def test_an_awaited_library_works_in_a_jail_as_it_is(yard: EdgeYard) -> None:
    gave, raw = await yard.reach("fetch_awaited", url=f"https://{API}/")
    assert (gave, raw.effects.network is not None) == ("hello", True)


@pytest.mark.req("NET-2")
async def test_curl_reaches_the_listed_host_and_no_other(yard: EdgeYard, places: Places) -> None:
    gave, raw = await yard.reach("with_curl", url=f"https://{API}/curl")
    assert (gave[:2], raw.effects.network is not None) == (["0", "hello"], True), gave
    other, _ = await yard.reach("with_curl", url=f"https://{OTHER}/")
    assert (other[0] != "0", places.unlisted.connections, places.world.asked) == (True, 0, [API])


@pytest.mark.req("NET-5", "CON-12")
async def test_the_client_of_the_context_works_blocking_and_awaited(yard: EdgeYard, places: Places) -> None:
    asked, _ = await yard.reach("ask", url=f"https://{API}/asked")
    told, _ = await yard.reach("tell", url=f"https://{API}/told", text="hi")
    assert (asked, told) == ("hello", 200)
    assert places.secure.requests == ["GET /asked HTTP/1.1", "POST /told HTTP/1.1"]
    assert b"Idempotency-Key: key-1\r\n" in places.secure.heard


async def test_an_unlisted_host_hears_nothing_and_the_refusal_is_on_record(yard: EdgeYard, places: Places) -> None:
    gave, raw = await yard.reach("send", library="urllib", url=f"https://{OTHER}/")
    assert isinstance(gave, Fault)
    assert (places.world.asked, places.world.dialled, places.unlisted.connections) == ([], [], 0)
    assert [refusal["code"] for refusal in (raw.effects.network or {})["refusals"]] == ["host_not_allowed"]


@pytest.mark.req("NET-4")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "169.254.169.254", OTHER_ADDRESS, "10.0.0.1"])
async def test_no_address_is_reached_that_nobody_listed(yard: EdgeYard, places: Places, host: str) -> None:
    outcomes = [(await yard.reach("dial", host=host, port=port))[0] for port in (80, 443, 22)]
    assert [outcome for outcome in outcomes if outcome.startswith("heard H")] == []
    assert outcomes[2] in ("PermissionError", "ConnectionRefusedError")  # by Landlock where it knows ports
    assert places.world.dialled == []


@pytest.mark.req("CON-5", "NET-5")
async def test_a_tool_that_declares_to_read_cannot_post(yard: EdgeYard, places: Places) -> None:
    for scheme in ("http", "https"):
        gave, raw = await yard.reach("change", url=f"{scheme}://{API}/")
        assert isinstance(gave, Fault)
        assert "read_only" in (raw.effects.network or {})["refusals"][0]["reason"]
    assert bytes(places.secure.heard + places.plain.heard) == b""


@pytest.mark.req("NET-5", "CON-5")
async def test_write_egress_opens_only_with_the_calls_own_warrant(yard: EdgeYard, places: Places) -> None:
    job = yard.warranted("send", {"library": "urllib", "url": f"https://{API}/"})
    assert job.warrant is not None
    without = {
        "none": replace(job, warrant=None),
        "of another call": replace(job, warrant=replace(job.warrant, invocation_id="call-2")),
        "nobody approved": yard.warranted("send", {"library": "urllib", "url": f"https://{API}/"}, basis="allowed"),
    }
    for name, each in without.items():
        raw = await yard.sandbox.run(each)
        assert (name, raw.fault and raw.fault.code) == (name, "approval_void")
    assert places.world.dialled == []
    assert (await yard.sandbox.run(job)).fault is None


async def test_the_kernel_gives_no_other_socket_and_none_that_listens(yard: EdgeYard) -> None:
    gave, _ = await yard.reach("try_calls")
    assert set(gave.values()) == {"Operation not permitted"}, gave


async def test_a_tool_without_the_need_has_no_socket_at_all(yard: EdgeYard) -> None:
    gave, raw = await yard.reach("stay")
    assert (gave, raw.effects.network) == ("Operation not permitted", None)


async def test_a_call_sees_the_edges_resolver_and_no_route_of_the_host(yard: EdgeYard) -> None:
    gave, _ = await yard.reach("look")
    assert gave["/etc/resolv.conf"].startswith("nameserver 127.0.0.1\n")
    assert gave["/proc/net/route"] in ("FileNotFoundError", "PermissionError")


async def test_two_hundred_connections_are_held_by_one_call(yard: EdgeYard, places: Places) -> None:
    async with places.world.server(hearing_server(answers=[b"pong"]), at=[(API_ADDRESS, 7000)]):
        gave, _ = await yard.reach("hold", count=200)
    assert gave == 200


@pytest.mark.req("SBX-2")
async def test_every_call_has_a_network_of_its_own(yard: EdgeYard) -> None:
    runs = [await yard.reach("dial", host=API, port=22) for _ in range(3)]
    networks = [raw.evidence["process"]["namespaces"]["net"] for _, raw in runs]
    assert len(set(networks)) == 3


@pytest.mark.req("SBX-7")
async def test_without_an_edge_a_network_need_has_no_backend(places: Places) -> None:
    opened = Yard(state=places.world.folder / "other", permits=PERMITS)
    try:
        await opened.load("reaching", folder=TOOLS)
        refused = opened.sandbox.refusal(opened.job("send", {"library": "urllib", "url": f"https://{API}/"}))
        assert refused is not None
        assert (refused.code, "network" in opened.sandbox.serves) == ("not_available", False)
    finally:
        await opened.close()
