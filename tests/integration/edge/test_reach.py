"""Where a program's connections and questions end: at the listed host, or nowhere, and the far side's log shows it."""

from __future__ import annotations

import gc
import os

import pytest

from ringfence.contract.capabilities import Network
from ringfence.edge.terms import Bounds
from tests.integration.edge.conftest import Places
from tests.integration.edge.world import API, API_ADDRESS, OTHER, OTHER_ADDRESS, hearing_server, http_server
from tests.integration.edge.yard import run_client

LOOPBACK = [
    "127.0.0.1",
    "0.0.0.0",
    "::1",
    "::ffff:127.0.0.1",
    "2130706433",
    "0177.0.0.1",
    "0x7f.1",
    "127.1",
    "localhost",
]
METADATA = ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "::ffff:169.254.169.254"]


@pytest.mark.req("NET-1", "NET-4")
async def test_no_spelling_of_loopback_or_metadata_and_no_public_address_is_dialled(places: Places) -> None:
    dialled = [(host, port) for host in (*LOOPBACK, *METADATA, OTHER_ADDRESS, API_ADDRESS) for port in (80, 443)]
    ran = await run_client(places.world, "dial_all", dialled, network=Network(API))
    assert [outcome for outcome in ran.gave if outcome.startswith("heard H")] == []
    assert (places.world.dialled, places.unlisted.connections) == ([], 0)
    assert set(ran.codes) == {"host_not_allowed"}


@pytest.mark.req("NET-1")
async def test_a_port_without_a_listed_host_refuses_at_once(places: Places) -> None:
    ran = await run_client(places.world, "dial_all", [(API, 22), (API, 25), (API, 6379)], network=Network(API))
    assert ran.gave == ["ConnectionRefusedError"] * 3
    assert places.world.dialled == []


@pytest.mark.req("NET-1")
async def test_a_listed_host_is_closed_at_the_port_of_another(places: Places) -> None:
    network = Network(API, f"{OTHER}:22")
    ran = await run_client(places.world, "dial_all", [(API, 22), (OTHER, 80)], network=network)
    assert (places.world.dialled, ran.codes) == ([], ["host_not_allowed"] * 2)


@pytest.mark.req("NET-4")
@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "fd00::1", "64:ff9b::7f00:1", "2002:7f00:1::", "0.0.0.0"]
)
async def test_a_listed_name_at_a_closed_address_is_not_dialled(places: Places, address: str) -> None:
    places.world.names[API] = [API_ADDRESS, address]
    ran = await run_client(places.world, "with_urllib", f"http://{API}/", network=Network(API))
    assert (ran.raised is not None, places.world.dialled, ran.codes) == (True, [], ["host_not_allowed"])


@pytest.mark.req("NET-4")
async def test_a_name_that_rebinds_is_dialled_where_it_was_checked(places: Places) -> None:
    await_both = [(API, 80), (API, 80)]
    first = places.world.names[API]
    ran = await run_client(places.world, "dial_all", await_both, network=Network(API))
    assert first == [API_ADDRESS]
    assert (places.world.asked, ran.codes) == ([API], ["host_not_allowed"])  # the Host of these requests is another


@pytest.mark.req("NET-6")
async def test_only_listed_names_resolve_and_nobody_outside_is_asked(places: Places) -> None:
    secret = "mfrggzdfmztwq2lknnwg23tpoa" * 2
    names = [
        API,
        API.upper(),
        f"{API}.",
        OTHER,
        f"{secret}.evil.com",
        f"{secret}.{API}",
        "localhost.localdomain",
        "evil.com",
    ]
    ran = await run_client(places.world, "resolve", *names, network=Network(API))
    assert ran.gave == ["198.18.0.2"] * 3 + [None] * 5
    assert places.world.asked == []
    assert {entry["name"] for entry in ran.effects["names"]} >= {API, OTHER, f"{secret}.evil.com"}


@pytest.mark.req("NET-6")
async def test_under_a_wildcard_only_a_few_short_names_resolve(places: Places) -> None:
    names = [f"n{i}.example.com" for i in range(25)] + ["a" * 40 + "." + "b" * 40 + ".example.com"]
    ran = await run_client(places.world, "resolve", *names, network=Network("*.example.com"))
    assert sum(address is not None for address in ran.gave) == 20
    assert ran.gave[-1] is None


@pytest.mark.req("NET-6")
@pytest.mark.parametrize("protocol", ["udp", "tcp"])
async def test_no_other_resolver_is_reached(places: Places, protocol: str) -> None:
    ran = await run_client(places.world, "ask_a_resolver", "8.8.8.8", "x.evil.com", protocol, network=Network(API))
    assert ran.raised is not None
    assert places.world.dialled == []


@pytest.mark.req("NET-1")
async def test_the_stub_resolver_answers_the_same_question_where_it_listens(places: Places) -> None:
    ran = await run_client(places.world, "ask_a_resolver", "127.0.0.1", API, "udp", network=Network(API))
    assert ran.gave.endswith("c6120002")


@pytest.mark.req("NET-1")
async def test_a_socket_that_is_aimed_anew_is_checked_anew(places: Places) -> None:
    async with places.world.server(http_server(), at=[(API_ADDRESS, 80)]):
        ran = await run_client(places.world, "unspecific_connect", API, 80, OTHER_ADDRESS, 443, network=Network(API))
    assert [outcome for outcome in ran.gave if outcome.startswith("heard H")] == []
    assert (places.unlisted.connections, OTHER_ADDRESS in dict(places.world.dialled)) == (0, False)


@pytest.mark.req("NET-4")
async def test_a_private_address_is_reached_by_the_listed_port_alone(places: Places) -> None:
    async with places.world.server(http_server(), at=[("10.0.0.5", 8080), ("10.0.0.5", 8081)]) as far:
        network = Network.permit("10.0.0.5:8080", "10.0.0.5:8081", private=("10.0.0.5:8080",))
        there = await run_client(places.world, "with_urllib", "http://10.0.0.5:8080/", network=network)
        other = await run_client(places.world, "with_urllib", "http://10.0.0.5:8081/", network=network)
    assert (there.gave, other.raised is not None, far.connections) == ("hello", True, 1)


@pytest.mark.req("NET-1")
async def test_two_hundred_connections_are_held_at_once(places: Places) -> None:
    async with places.world.server(hearing_server(answers=[b"pong"]), at=[(API_ADDRESS, 7000)]):
        ran = await run_client(places.world, "hold_connections", API, 7000, 200, network=Network(f"{API}:7000"))
    assert (ran.raised, ran.gave, ran.codes) == (None, 200, [])


@pytest.mark.req("NET-1")
async def test_more_connections_than_the_bound_are_refused_and_the_others_stay(places: Places) -> None:
    async with places.world.server(hearing_server(answers=[b"pong"]), at=[(API_ADDRESS, 7000)]):
        ran = await run_client(
            places.world, "hold_connections", API, 7000, 12,
            network=Network(f"{API}:7000"), bounds=Bounds(open_connections=8),
        )  # fmt: skip
    assert (ran.raised, ran.gave) == (None, 8)
    assert sum(refusal["times"] for refusal in ran.effects["refusals"]) == 4


@pytest.mark.req("NET-1")
@pytest.mark.parametrize("port", [80, 443])
async def test_an_endless_answer_is_cut_at_the_bound(places: Places, port: int) -> None:
    tls = places.authority.server_side(API) if port == 443 else None
    async with places.world.server(http_server(b"x" * 4_000_000), at=[(API_ADDRESS, port)], tls=tls):
        ran = await run_client(
            places.world, "fetch_size", f"http{'s' if tls else ''}://{API}/",
            network=Network(API), bounds=Bounds(bytes_in=1_000_000), roots=places.roots,
        )  # fmt: skip
    assert (ran.gave or 0) < 1_000_000  # a client may take the cut for the end of what it was promised
    assert ran.effects["bytes_in"] < 4_000_000
    assert [refusal["reason"] for refusal in ran.effects["refusals"]] == ["more than 1000000 bytes in"]


@pytest.mark.req("NET-5")
async def test_headers_that_never_end_are_given_up(places: Places) -> None:
    ran = await run_client(
        places.world, "drip", API, 80, 1.0, network=Network(API), way="inspected", bounds=Bounds(head_seconds=0.3)
    )
    assert (ran.raised is not None or ran.gave != "heard HTTP", bytes(places.plain.heard)) == (True, b"")


@pytest.mark.req("NET-1")
async def test_what_went_through_is_counted_to_the_byte(places: Places) -> None:
    async with places.world.server(hearing_server(answers=[b"12345"]), at=[(API_ADDRESS, 7000)]) as far:
        ran = await run_client(places.world, "talk", API, 7000, "abcdefgh", network=Network(f"{API}:7000"))
    assert (ran.gave, bytes(far.heard)) == ("12345", b"abcdefgh")
    assert ran.effects["hosts"] == [
        {"host": API, "port": 7000, "way": "opaque", "connections": 1, "requests": 0, "bytes_out": 8, "bytes_in": 5}
    ]


def _held() -> tuple[int, int]:
    """This process's resident pages, which are the edge's here, and its open descriptors."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]), len(os.listdir("/proc/self/fd"))


@pytest.mark.long
@pytest.mark.req("NET-1")
async def test_ten_thousand_connections_leave_nothing_in_the_edge(places: Places) -> None:
    network, many = Network(f"{API}:7000"), Bounds(connections=20_000)
    async with places.world.server(hearing_server(answers=[b"pong"]), at=[(API_ADDRESS, 7000)]):
        await run_client(places.world, "one_after_another", API, 7000, 2_000, network=network, bounds=many)
        pages, descriptors = _held()
        ran = await run_client(places.world, "one_after_another", API, 7000, 10_000, network=network, bounds=many)
        gc.collect()
        places.world.dialled.clear()
        pages_after, descriptors_after = _held()
    assert (ran.gave, descriptors_after - descriptors) == (10_000, 0)
    assert (pages_after - pages) * 4096 < 16 << 20
