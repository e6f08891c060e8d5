"""Whoever opens TLS names the host that was dialled; where the edge reads, the Host inside must be it too."""

from __future__ import annotations

import asyncio
import ssl

import pytest

from ringfence.contract.capabilities import Network
from ringfence.contract.safety import Egress
from ringfence.policy.grant import Way
from tests.integration.edge.conftest import Places
from tests.integration.edge.world import API, API_ADDRESS, OTHER, Far, Serve, http_server
from tests.integration.edge.yard import run_client

pytestmark = pytest.mark.req("NET-4")


@pytest.mark.parametrize("way", ["opaque", "inspected"])
@pytest.mark.parametrize("name", [OTHER, f"{API}.evil.com", f"evil{API}", None])
async def test_a_hello_that_names_another_host_or_none_does_not_leave(
    places: Places, way: Way, name: str | None
) -> None:
    ran = await run_client(places.world, "tls_naming", API, 443, name, network=Network(API), way=way)
    assert ran.raised is not None
    assert (bytes(places.secure.heard), ran.codes) == (b"", ["host_not_allowed"])


@pytest.mark.parametrize("way", ["opaque", "inspected"])
@pytest.mark.parametrize("name", [API, API.upper()])
async def test_the_same_handshake_with_the_right_name_arrives(places: Places, way: Way, name: str) -> None:
    ran = await run_client(places.world, "tls_naming", API, 443, name, network=Network(API), way=way)
    assert (ran.raised, ran.gave[:15]) == (None, "HTTP/1.1 200 OK")


@pytest.mark.req("NET-5")
async def test_another_host_inside_the_right_tls_is_refused_where_the_edge_reads(places: Places) -> None:
    network = Network(API)
    read = await run_client(places.world, "fronted", API, OTHER, network=network, way="inspected")
    assert (read.raised is None, read.gave, bytes(places.secure.heard)) == (True, "", b"")
    assert read.codes == ["host_not_allowed"]


@pytest.mark.req("NET-5")
async def test_another_host_inside_opaque_tls_is_out_of_sight_and_the_trail_says_opaque(places: Places) -> None:
    ran = await run_client(places.world, "fronted", API, OTHER, network=Network(API), roots=places.roots)
    assert ran.gave.startswith("HTTP/1.1 200")
    assert [line["way"] for line in ran.effects["hosts"]] == ["opaque"]


@pytest.mark.req("NET-5")
@pytest.mark.parametrize("problem", ["expired", "another name", "unknown authority"])
async def test_the_edge_talks_to_no_server_that_its_roots_do_not_vouch_for(
    places: Places, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides: dict[str, ssl.SSLContext] = {
        "expired": places.authority.server_side(API, expired=True),
        "another name": places.authority.server_side(OTHER),
        "unknown authority": places.authority.server_side(API),
    }
    if problem == "unknown authority":
        monkeypatch.delenv("SSL_CERT_FILE")
    async with places.world.server(http_server(), at=[(API_ADDRESS, 443)], tls=sides[problem]) as far:
        ran = await run_client(places.world, "with_urllib", f"https://{API}/", network=Network(API), way="inspected")
    assert ran.raised is not None
    assert (far.requests, ran.codes) == ([], ["host_not_allowed"])


def _postgres(tls: ssl.SSLContext) -> object:
    def of(far: Far) -> Serve:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            far.heard += await reader.readexactly(8)
            writer.write(b"S")
            await writer.start_tls(tls)
            far.heard += b"tls"

        return serve

    return of


def _smtp(tls: ssl.SSLContext) -> object:
    def of(far: Far) -> Serve:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"220 here\r\n")
            while line := await reader.readline():
                far.heard += line
                starts = line.strip() == b"STARTTLS"
                word = line.strip().lower()
                writer.write(
                    {b"starttls": b"220 go\r\n", b"quit": b"221 bye\r\n"}.get(word, b"250-a\r\n250 STARTTLS\r\n")
                )
                if starts:
                    await writer.start_tls(tls)
                    far.heard += b"tls "

        return serve

    return of


@pytest.mark.parametrize(("client", "port"), [("postgres", 5432), ("smtp", 587)])
@pytest.mark.parametrize("name", [API, OTHER])
async def test_tls_that_begins_later_names_the_host_too(places: Places, client: str, port: int, name: str) -> None:
    tls = places.authority.server_side(API)
    server = _postgres(tls) if client == "postgres" else _smtp(tls)
    async with places.world.server(server, at=[(API_ADDRESS, port)]) as far:  # type: ignore[arg-type]
        network = Network(f"{API}:{port}")
        ran = await run_client(places.world, f"{client}_tls_naming", API, port, name, network=network)
    right = name == API
    assert (ran.raised is None, b"tls" in far.heard) == (right, right)
    assert ran.codes == ([] if right else ["host_not_allowed"])


@pytest.mark.req("NET-2")
async def test_smtplib_speaks_with_starttls(places: Places) -> None:
    tls = places.authority.server_side(API)
    async with places.world.server(_smtp(tls), at=[(API_ADDRESS, 587)]) as far:  # type: ignore[arg-type]
        network = Network(f"{API}:587")
        ran = await run_client(places.world, "with_smtplib", API, 587, network=network, roots=places.roots)
    assert (ran.raised, ran.gave) == (None, "250")
    assert far.heard.count(b"ehlo") == 2


@pytest.mark.req("NET-5")
async def test_a_protocol_that_the_edge_cannot_read_does_not_leave_under_read_only(places: Places) -> None:
    async with places.world.server(http_server(), at=[(API_ADDRESS, 5432)]) as far:
        ran = await run_client(
            places.world, "talk", API, 5432, "\0\0\0\x08\x04\xd2\x16/",
            network=Network(f"{API}:5432"), way="inspected", egress=Egress.READ_ONLY,
        )  # fmt: skip
    assert ran.raised is not None
    assert (far.connections, ran.codes) == (0, ["egress_not_enforceable"])
