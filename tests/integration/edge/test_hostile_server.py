"""A listed host that is hostile itself: what it answers opens no other protocol, no tunnel, and holds up nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from ringfence.contract.capabilities import Network
from ringfence.edge.terms import Bounds
from ringfence.policy.grant import Way
from tests.integration.edge.conftest import Places
from tests.integration.edge.world import API, API_ADDRESS, OTHER, Far, Serve, hearing_server
from tests.integration.edge.yard import run_client

pytestmark = pytest.mark.req("NET-4", "NET-5")

GET = f"GET / HTTP/1.1\r\nHost: {API}\r\n\r\n"
PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HELLO = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
# What the server says to the first request, and what the tool then sends over the same connection.
_SWITCHING, _FINE = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: ", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
LURES = {
    "h2c that nobody asked for": (_SWITCHING + b"h2c\r\n\r\n", PREFACE),
    "a socket that nobody asked for": (_SWITCHING + b"websocket\r\n\r\n", "\x81\x05hello"),
    "a tunnel that nobody asked for": (b"HTTP/1.1 200 Connection established\r\n\r\n", HELLO),
    "a tunnel asked for now": (_FINE, f"CONNECT {OTHER}:443 HTTP/1.1\r\n\r\n"),
    "a page for another host": (_FINE, f"GET / HTTP/1.1\r\nHost: {OTHER}\r\n\r\n"),
    "an answer before its request": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "hello"),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "then"), LURES.values(), ids=LURES)
@pytest.mark.parametrize("way", ["opaque", "inspected"])
async def test_no_answer_opens_another_protocol_without_tls(places: Places, way: Way, answer: bytes, then: str) -> None:
    async with places.world.server(hearing_server(answers=[answer]), at=[(API_ADDRESS, 80)]) as far:
        ran = await run_client(places.world, "converse", API, 80, GET, then, network=Network(API), way=way)
    assert (bytes(far.heard), far.connections) == (GET.encode(), 1)
    assert (len(ran.codes), places.unlisted.connections) == (1, 0)


@pytest.mark.parametrize(("answer", "then"), LURES.values(), ids=LURES)
async def test_no_answer_opens_another_protocol_under_tls_that_the_edge_reads(
    places: Places, answer: bytes, then: str
) -> None:
    tls = places.authority.server_side(API)
    async with places.world.server(hearing_server(answers=[answer]), at=[(API_ADDRESS, 443)], tls=tls) as far:
        ran = await run_client(places.world, "converse_over_tls", API, GET, then, network=Network(API), way="inspected")
    assert (bytes(far.heard), far.connections, len(ran.codes)) == (GET.encode(), 1, 1)


def _dripping(until: asyncio.Event) -> Callable[[Far], Serve]:
    """A head that comes byte by byte and never ends."""

    def of(far: Far) -> Serve:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            far.heard += await reader.readuntil(b"\r\n\r\n")
            while not until.is_set():
                writer.write(b"H")
                await writer.drain()
                await asyncio.sleep(0.01)

        return serve

    return of


@pytest.mark.parametrize("way", ["opaque", "inspected"])
async def test_a_server_that_never_ends_its_head_holds_up_nobody_else(places: Places, way: Way) -> None:
    over = asyncio.Event()
    places.world.names[OTHER] = ["93.184.216.98"]
    async with places.world.server(_dripping(over), at=[("93.184.216.98", 80)]):
        ran = await run_client(
            places.world, "patient_and_quick", OTHER, f"http://{API}/", network=Network(API, OTHER), way=way
        )
        over.set()
    assert (ran.raised, ran.gave) == (None, ["H", "hello", "hello", "hello"])


async def test_a_request_by_the_edge_gives_up_on_a_server_that_never_ends_its_head(places: Places) -> None:
    over = asyncio.Event()
    async with places.world.server(_dripping(over), at=[(API_ADDRESS, 80)]):
        ran = await run_client(
            places.world, "by_the_client", "GET", f"http://{API}/", {"timeout": 0.5},
            network=Network(API), bounds=Bounds(bytes_in=1 << 20),
        )  # fmt: skip
        over.set()
    assert ran.raised is not None
    assert "time" in ran.raised.lower()
