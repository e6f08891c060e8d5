"""The lines about the network, tried by tools that do have a way out; each with the act that must succeed.

Nothing leaves the machine: the edge's own resolver and dialler lead into a world of servers that log what they hear.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest
import pytest_asyncio

from ringfence.contract.capabilities import Network
from ringfence.edge.terms import Bounds
from tests.integration.edge.conftest import Places, a_world
from tests.integration.edge.jails import TOOLS, EdgeYard
from tests.integration.edge.world import API, API_ADDRESS, OTHER, OTHER_ADDRESS, hearing_server, http_server
from tests.integration.edge.yard import Ran, run_client

__all__ = ["a_world"]

HELLO = f"GET / HTTP/1.1\r\nHost: {API}\r\n\r\n"


@pytest_asyncio.fixture
async def yard(places: Places) -> AsyncIterator[EdgeYard]:
    opened = EdgeYard(state=places.world.folder / "state", world=places.world)
    try:
        await opened.load("reaching", folder=TOOLS)
        yield opened
    finally:
        await opened.close()


async def assert_arrives(places: Places) -> None:
    """The same program, the same way, and the host that is listed: it arrives."""
    ran = await run_client(places.world, "talk", API, 80, HELLO, network=Network(API))
    assert ran.gave.startswith("HTTP/1.1 200 OK")


def assert_silent(places: Places, ran: Ran) -> None:
    assert (places.unlisted.connections, bytes(places.unlisted.heard), places.world.dialled) == (0, b"", [])
    assert set(ran.codes) == {"host_not_allowed"}


@pytest.mark.req("NET-4")
@pytest.mark.parametrize(
    ("line", "hosts"),
    [
        (31, ("127.0.0.1", "0.0.0.0", "::1", "::ffff:127.0.0.1")),
        (32, (OTHER_ADDRESS, "8.8.8.8", "2606:4700::1111")),
        (33, ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "metadata.google.internal")),
        (34, ("2130706433", "0177.0.0.1", "0x7f.1", "127.1", "127.0.0.1.", "１２７.0.0.1")),
        (38, (f"{API}.evil.com", f"evil{API}", f"{API}%2eevil.com", f"evil.com.{API}", "evil.com")),
    ],
)
async def test_line_031_032_033_034_038_no_other_place_is_dialled(
    places: Places, line: int, hosts: Sequence[str]
) -> None:
    network = Network(API, "*.google.internal") if line == 33 else Network(API)
    dialled = [(host, port) for host in hosts for port in (80, 443)]
    ran = await run_client(places.world, "dial_all", dialled, network=network)
    assert [outcome for outcome in ran.gave if outcome.startswith("heard H")] == []
    assert_silent(places, ran)
    await assert_arrives(places)


@pytest.mark.req("NET-4")
@pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "169.254.169.254", "fd00::1", "64:ff9b::1", "2002::1"])
async def test_line_035_a_listed_name_at_a_closed_address_is_not_dialled(places: Places, address: str) -> None:
    await assert_arrives(places)
    places.world.dialled.clear()
    places.world.names[API] = [address]
    ran = await run_client(places.world, "talk", API, 80, HELLO, network=Network(API))
    assert_silent(places, ran)


@pytest.mark.req("NET-4")
async def test_line_036_a_name_that_changes_its_address_is_dialled_where_it_was_checked(places: Places) -> None:
    answers = iter([[API_ADDRESS], ["127.0.0.1"]])

    async def rebinding(name: str) -> Sequence[str]:
        places.world.asked.append(name)
        return next(answers)

    places.world.lookup = rebinding  # type: ignore[method-assign]
    network = Network(API)
    ran = await run_client(places.world, "dial_all", [(API, 80), (API, 80)], network=network)
    assert places.world.asked == [API]
    assert places.world.dialled == [(API_ADDRESS, 80), (API_ADDRESS, 80)]
    assert len(ran.gave) == 2


@pytest.mark.req("NET-4")
@pytest.mark.parametrize("host", [f"evil.com\0.{API}", f"{API}\0", f"{API}@{OTHER}"])
async def test_line_037_a_host_with_a_nul_or_a_user_is_no_request(places: Places, host: str) -> None:
    raw = f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"
    ran = await run_client(places.world, "talk", API, 80, raw, network=Network(API))
    assert (bytes(places.plain.heard), ran.codes) == (b"", ["host_not_allowed"])
    await assert_arrives(places)


@pytest.mark.req("NET-3")
async def test_line_039_a_list_without_hosts_lets_nothing_out(places: Places) -> None:
    ran = await run_client(places.world, "dial_all", [(API, 80), (OTHER_ADDRESS, 80)], network=Network())
    assert [outcome for outcome in ran.gave if outcome.startswith("heard")] == []
    assert places.world.dialled == []
    await assert_arrives(places)


@pytest.mark.req("NET-4")
@pytest.mark.parametrize("library", ["urllib", "requests", "aiohttp"])
@pytest.mark.parametrize("place", [f"http://{OTHER}/", "http://169.254.169.254/", "http://127.0.0.1/"])
async def test_line_040_a_redirect_is_a_new_connection_and_is_checked(places: Places, library: str, place: str) -> None:
    moved = http_server(headers=b"Location: " + place.encode() + b"\r\n", status=b"302 Found")
    async with places.world.server(moved, at=[(API_ADDRESS, 80)]) as far:
        ran = await run_client(places.world, f"with_{library}", f"http://{API}/", network=Network(API))
    assert (ran.raised is not None, far.connections, places.unlisted.connections) == (True, 1, 0)
    assert set(ran.codes) == {"host_not_allowed"}


@pytest.mark.req("NET-4")
async def test_line_041_046_a_hello_for_another_host_does_not_leave(places: Places) -> None:
    ran = await run_client(places.world, "tls_naming", API, 443, "evil.com", network=Network(API))
    assert (ran.raised is not None, bytes(places.secure.heard), ran.codes) == (True, b"", ["host_not_allowed"])
    right = await run_client(places.world, "tls_naming", API, 443, API, network=Network(API))
    assert right.gave.startswith("HTTP/1.1 200")


@pytest.mark.req("NET-4")
async def test_line_042_fronting_is_refused_where_the_edge_reads_and_flagged_where_it_does_not(places: Places) -> None:
    read = await run_client(places.world, "fronted", API, "evil.com", network=Network(API), way="inspected")
    assert (read.codes, bytes(places.secure.heard)) == (["host_not_allowed"], b"")
    unread = await run_client(places.world, "fronted", API, "evil.com", network=Network(API), roots=places.roots)
    assert [line["way"] for line in unread.effects["hosts"]] == ["opaque"]


@pytest.mark.req("NET-1")
async def test_line_043_no_other_port_of_a_listed_host(places: Places) -> None:
    ran = await run_client(places.world, "dial_all", [(API, port) for port in (22, 25, 6379)], network=Network(API))
    assert (ran.gave, places.world.dialled) == (["ConnectionRefusedError"] * 3, [])
    await assert_arrives(places)


@pytest.mark.req("NET-4")
async def test_line_044_045_every_request_of_a_connection_is_for_its_host_and_for_one_reader(places: Places) -> None:
    second = f"GET /2 HTTP/1.1\r\nHost: {OTHER}\r\n\r\n"
    smuggled = f"POST / HTTP/1.1\r\nHost: {API}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    for raw in (HELLO + second, HELLO + smuggled + second):
        await run_client(places.world, "over_tls", API, raw, network=Network(API), way="inspected")
    assert places.secure.requests == ["GET / HTTP/1.1"] * 2


@pytest.mark.req("NET-6")
async def test_line_047_a_name_carries_nothing_out(places: Places) -> None:
    secret = "mfrggzdfmztwq2lknnwg23tpoa"
    names = [f"{secret}.evil.com", f"{secret}.{API}", f"{secret}.{secret}.{secret}.example.com"]
    ran = await run_client(places.world, "resolve", *names, API, network=Network(API, "*.example.com"))
    assert ran.gave[0] is None
    assert ran.gave[2:] == [None, ran.gave[3]]
    for protocol in ("udp", "tcp"):
        asked = await run_client(places.world, "ask_a_resolver", "8.8.8.8", names[0], protocol, network=Network(API))
        assert asked.raised is not None
    assert (places.world.asked, places.world.dialled) == ([], [])


@pytest.mark.req("NET-1", "SBX-3")
async def test_line_048_049_050_051_052_053_055_164_no_other_socket_and_none_that_listens(yard: EdgeYard) -> None:
    gave, _ = await yard.reach("try_calls")
    assert set(gave.values()) == {"Operation not permitted"}, gave
    assert (await yard.reach("send", library="urllib", url=f"http://{API}/"))[0] == "hello"


@pytest.mark.req("NET-1")
async def test_line_164_a_socket_aimed_anew_is_checked_anew(places: Places) -> None:
    ran = await run_client(places.world, "unspecific_connect", API, 80, OTHER_ADDRESS, 443, network=Network(API))
    assert ran.gave[0] == "dissolved 0"
    assert [outcome for outcome in ran.gave if outcome.startswith("heard H")] == []
    assert (OTHER_ADDRESS, 443) not in places.world.dialled


@pytest.mark.req("NET-1")
async def test_line_057_a_proxy_of_the_tools_choice_is_an_address_like_any_other(places: Places) -> None:
    tunnel = f"CONNECT {OTHER}:443 HTTP/1.1\r\nHost: {OTHER}:443\r\n\r\n"
    ran = await run_client(places.world, "talk", API, 80, tunnel, network=Network(API))
    assert (bytes(places.plain.heard), ran.codes) == (b"", ["host_not_allowed"])
    await assert_arrives(places)


@pytest.mark.req("NET-1")
async def test_line_058_a_call_that_floods_the_edge_is_bounded_and_another_is_served(places: Places) -> None:
    few = Bounds(open_connections=8, connections=40)
    async with places.world.server(hearing_server(answers=[b"pong"]), at=[(API_ADDRESS, 7000)]):
        network = Network(f"{API}:7000")
        flood, other = await asyncio.gather(
            run_client(places.world, "hold_connections", API, 7000, 30, network=network, bounds=few),
            run_client(places.world, "hold_connections", API, 7000, 5, network=network),
        )
    assert (flood.gave, flood.raised, other.gave, other.codes) == (8, None, 5, [])


@pytest.mark.req("NET-1")
async def test_line_059_an_answer_without_end_is_cut(places: Places) -> None:
    async with places.world.server(http_server(b"\0" * 5_000_000), at=[(API_ADDRESS, 80)]):
        bounded = await run_client(
            places.world, "fetch_size", f"http://{API}/", network=Network(API), bounds=Bounds(bytes_in=500_000)
        )
        whole = await run_client(places.world, "fetch_size", f"http://{API}/", network=Network(API))
    assert (bounded.gave or 0) < 500_000
    assert whole.gave == 5_000_000


@pytest.mark.req("NET-1", "NET-5")
async def test_line_165_a_call_without_its_warrant_rides_on_no_other(yard: EdgeYard, places: Places) -> None:
    arguments = {"library": "urllib", "url": f"http://{API}/"}
    approved = yard.warranted("send", arguments)
    rider = replace(yard.job("send", arguments), invocation_id="call-2", warrant=approved.warrant)
    served, refused = await asyncio.gather(yard.sandbox.run(approved), yard.sandbox.run(rider))
    assert (served.fault, refused.fault and refused.fault.code) == (None, "approval_void")
    assert len(places.plain.requests) == 1


@pytest.mark.req("NET-1", "SBX-2")
async def test_line_172_two_calls_of_one_jail_do_not_meet_on_loopback(yard: EdgeYard) -> None:
    runs = await asyncio.gather(*(yard.reach("dial", host="127.0.0.1", port=80) for _ in range(2)))
    networks = {raw.evidence["process"]["namespaces"]["net"] for _, raw in runs}
    assert len(networks) == 2
    assert [gave for gave, _ in runs if gave.startswith("heard H")] == []
