"""Requests that the edge reads: each is for the host of its connection, of a method that the class allows, and one."""

from __future__ import annotations

import pytest

from ringfence.contract.capabilities import Network
from ringfence.contract.safety import Egress
from tests.integration.edge.conftest import Places
from tests.integration.edge.world import API, OTHER
from tests.integration.edge.yard import run_client

GET = f"GET / HTTP/1.1\r\nHost: {API}\r\n"

# Requests that two readers could take for something else, or that are for somebody else (each with why).
REFUSED = {
    "two hosts": f"{GET}Host: {OTHER}\r\n\r\n",
    "no host": "GET / HTTP/1.1\r\n\r\n",
    "another host": f"GET / HTTP/1.1\r\nHost: {OTHER}\r\n\r\n",
    "another port": f"GET / HTTP/1.1\r\nHost: {API}:8080\r\n\r\n",
    "a user in the host": f"GET / HTTP/1.1\r\nHost: {API}@{OTHER}\r\n\r\n",
    "a nul in the host": f"GET / HTTP/1.1\r\nHost: {OTHER}\0.{API}\r\n\r\n",
    "a target of another host": f"GET http://{OTHER}/ HTTP/1.1\r\nHost: {API}\r\n\r\n",
    "a tunnel": f"CONNECT {OTHER}:443 HTTP/1.1\r\nHost: {OTHER}:443\r\n\r\n",
    "a tunnel to itself": f"CONNECT {API}:443 HTTP/1.1\r\nHost: {API}\r\n\r\n",
    "length and chunks": f"{GET}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": f"{GET}Content-Length: 4\r\nContent-Length: 5\r\n\r\naaaaa",
    "a signed length": f"{GET}Content-Length: +4\r\n\r\naaaa",
    "another coding": f"{GET}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a hidden coding": f"{GET}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a folded line": f"{GET}X-A: b\r\n Host: {OTHER}\r\n\r\n",
    "a bare line end": f"{GET}X-A: b\nHost: {OTHER}\r\n\r\n",
    "a bare return": f"{GET}X-A: b\rHost: {OTHER}\r\n\r\n",
    "a header without a name": f"{GET}: b\r\n\r\n",
    "h2c": f"{GET}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
    "an upgrade": f"{GET}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "HTTP/2 by prior knowledge": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a version of its own": f"GET / HTTP/1.1 HTTP/1.1\r\nHost: {API}\r\n\r\n",
}  # fmt: skip


@pytest.mark.req("NET-4", "NET-5")
@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED)
async def test_a_request_that_could_be_misread_or_is_for_another_host_does_not_leave(places: Places, raw: str) -> None:
    ran = await run_client(places.world, "over_tls", API, raw, network=Network(API), way="inspected")
    assert (bytes(places.secure.heard), places.secure.connections) == (b"", 0)
    assert len(ran.codes) == 1


@pytest.mark.req("NET-4")
@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED)
async def test_the_same_holds_without_tls_where_the_way_is_opaque(places: Places, raw: str) -> None:
    ran = await run_client(places.world, "talk", API, 80, raw, network=Network(API))
    assert bytes(places.plain.heard) == b""
    assert len(ran.codes) == 1


@pytest.mark.req("NET-4")
async def test_every_request_of_a_kept_connection_is_looked_at(places: Places) -> None:
    pieces = (f"{GET}\r\n", f"{GET}Content-Length: 3\r\n\r\nabc", f"GET /2 HTTP/1.1\r\nHost: {OTHER}\r\n\r\n")
    ran = await run_client(places.world, "over_tls", API, "".join(pieces), network=Network(API), way="inspected")
    assert places.secure.requests == ["GET / HTTP/1.1", "GET / HTTP/1.1"]
    assert [(line["requests"]) for line in ran.effects["hosts"]] == [2]
    assert ran.codes == ["host_not_allowed"]


@pytest.mark.req("CON-5", "NET-5")
@pytest.mark.parametrize(
    "raw",
    [
        f"POST / HTTP/1.1\r\nHost: {API}\r\nContent-Length: 0\r\n\r\n",
        f"PUT / HTTP/1.1\r\nHost: {API}\r\n\r\n",
        f"DELETE / HTTP/1.1\r\nHost: {API}\r\n\r\n",
        f"PATCH / HTTP/1.1\r\nHost: {API}\r\n\r\n",
        f"PROPFIND / HTTP/1.1\r\nHost: {API}\r\n\r\n",
        f"{GET}Content-Length: 1\r\n\r\nx",
        f"{GET}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    ],
)
async def test_read_only_lets_no_other_method_and_no_body_out(places: Places, raw: str) -> None:
    network = Network(API)
    ran = await run_client(
        places.world, "over_tls", API, raw, network=network, way="inspected", egress=Egress.READ_ONLY
    )
    assert (bytes(places.secure.heard), ran.codes) == (b"", ["host_not_allowed"])


@pytest.mark.req("CON-5", "NET-5")
async def test_write_lets_a_body_out_with_its_length_or_in_chunks(places: Places) -> None:
    network = Network(API)
    for function, arguments in (("post", ("body of it",)), ("chunked_post", ())):
        ran = await run_client(places.world, function, f"https://{API}/", *arguments, network=network, way="inspected")
        assert (ran.raised, ran.gave) == (None, "hello")
    assert b"body of it" in places.secure.heard
    assert b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n" in places.secure.heard


@pytest.mark.req("NET-5")
@pytest.mark.parametrize("library", ["urllib", "requests", "aiohttp"])
async def test_reading_methods_pass_under_read_only(places: Places, library: str) -> None:
    ran = await run_client(
        places.world, f"with_{library}", f"https://{API}/a?b=c",
        network=Network(API), way="inspected", egress=Egress.READ_ONLY,
    )  # fmt: skip
    assert (ran.raised, places.secure.requests) == (None, ["GET /a?b=c HTTP/1.1"])
