"""`ctx.http`: requests that the edge makes itself, hop by hop within the list."""

from __future__ import annotations

import pytest

from ringfence.contract.capabilities import Network
from ringfence.contract.safety import Egress
from ringfence.edge.terms import Bounds
from tests.integration.edge.conftest import Places
from tests.integration.edge.world import API, API_ADDRESS, OTHER, http_server
from tests.integration.edge.yard import run_client

pytestmark = pytest.mark.req("NET-5")


@pytest.mark.req("CON-12")
async def test_a_request_is_made_by_the_edge_and_answered_whole(places: Places) -> None:
    ran = await run_client(
        places.world, "by_the_client", "GET", f"https://{API}/x", {"params": {"q": "a b"}}, network=Network(API)
    )
    assert (ran.raised, ran.gave["status"], ran.gave["text"]) == (None, 200, "hello")
    assert places.secure.requests == ["GET /x?q=a+b HTTP/1.1"]
    assert [(line["way"], line["requests"]) for line in ran.effects["hosts"]] == [("mediated", 1)]


async def test_letters_beyond_ascii_in_a_header_go_on_as_they_are(places: Places) -> None:
    options = {"headers": {"X-Name": "caf\xe9"}}
    ran = await run_client(places.world, "by_the_client", "GET", f"https://{API}/", options, network=Network(API))
    assert (ran.raised, b"X-Name: caf\xe9\r\n" in places.secure.heard) == (None, True)


@pytest.mark.req("IDM-1")
async def test_a_request_that_changes_something_carries_the_key_of_the_call(places: Places) -> None:
    options = {"json": {"a": 1}}
    ran = await run_client(places.world, "by_the_client", "POST", f"https://{API}/", options, network=Network(API))
    assert ran.raised is None
    assert b"Idempotency-Key: key-of-the-call\r\n" in places.secure.heard
    assert places.secure.heard.endswith(b'{"a": 1}')


@pytest.mark.parametrize(
    "url",
    [
        f"https://{OTHER}/", f"http://{OTHER}/", f"https://{API}:8443/", f"https://{API}@{OTHER}/", "http://127.0.0.1/",
        "http://[::1]/", "http://169.254.169.254/latest/meta-data/", f"ftp://{API}/", f"https://{API}.evil.com/",
        "http://2130706433/", f"https://{OTHER}\\@{API}/", f"https://{API} .evil.com/", "file:///etc/passwd",
    ],
)  # fmt: skip
async def test_a_request_to_an_unlisted_place_is_a_refusal_that_says_so(places: Places, url: str) -> None:
    ran = await run_client(places.world, "by_the_client", "GET", url, {}, network=Network(API))
    assert ran.raised is not None
    assert (places.world.asked, places.world.dialled, ran.codes) == ([], [], ["host_not_allowed"])


@pytest.mark.req("NET-4")
@pytest.mark.parametrize("place", [f"http://{OTHER}/", "http://127.0.0.1:1/", "http://169.254.169.254/", "//" + OTHER])
async def test_a_redirect_to_an_unlisted_place_is_not_followed(places: Places, place: str) -> None:
    moved = http_server(headers=b"Location: " + place.encode() + b"\r\n", status=b"302 Found")
    async with places.world.server(moved, at=[(API_ADDRESS, 80)]) as far:
        ran = await run_client(
            places.world, "by_the_client", "GET", f"http://{API}/", {"follow_redirects": True}, network=Network(API)
        )
    assert (ran.raised is not None, len(far.requests), places.unlisted.connections) == (True, 1, 0)
    assert ran.codes == ["host_not_allowed"]


async def test_a_redirect_to_a_listed_place_is_followed_when_asked_for(places: Places) -> None:
    moved = http_server(headers=f"Location: https://{API}/there\r\n".encode(), status=b"302 Found")
    async with places.world.server(moved, at=[(API_ADDRESS, 80)]):
        options = {"follow_redirects": True, "headers": {"Authorization": "Bearer x"}}
        ran = await run_client(places.world, "by_the_client", "GET", f"http://{API}/", options, network=Network(API))
        stays = await run_client(places.world, "by_the_client", "GET", f"http://{API}/", {}, network=Network(API))
    assert (ran.gave["text"], ran.gave["url"]) == ("hello", f"https://{API}/there")
    assert b"Bearer x" not in places.secure.heard
    assert stays.gave["status"] == 302


@pytest.mark.req("CON-5")
@pytest.mark.parametrize(("method", "options"), [("POST", {}), ("DELETE", {}), ("GET", {"content": "x"})])
async def test_read_only_holds_here_too(places: Places, method: str, options: dict[str, str]) -> None:
    ran = await run_client(
        places.world, "by_the_client", method, f"https://{API}/", options,
        network=Network(API), way="inspected", egress=Egress.READ_ONLY,
    )  # fmt: skip
    assert (ran.raised is not None, bytes(places.secure.heard)) == (True, b"")


@pytest.mark.parametrize(
    "name", ["Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Proxy-Authorization"]
)
async def test_a_tool_does_not_write_the_headers_that_frame_a_message(places: Places, name: str) -> None:
    options = {"headers": {name: "x"}}
    ran = await run_client(places.world, "by_the_client", "GET", f"https://{API}/", options, network=Network(API))
    assert (ran.raised is not None, places.secure.connections) == (True, 0)


@pytest.mark.parametrize("value", ["a\r\nHost: evil", "a\nb", "a\0b"])
async def test_a_header_cannot_carry_a_second_one(places: Places, value: str) -> None:
    options = {"headers": {"X-A": value}}
    ran = await run_client(places.world, "by_the_client", "GET", f"https://{API}/", options, network=Network(API))
    assert (ran.raised is not None, places.secure.connections) == (True, 0)


async def test_an_answer_beyond_the_bound_is_cut_and_told(places: Places) -> None:
    async with places.world.server(http_server(b"x" * 3_000_000), at=[(API_ADDRESS, 80)]):
        ran = await run_client(
            places.world, "by_the_client", "GET", f"http://{API}/", {},
            network=Network(API), bounds=Bounds(bytes_in=1_000_000),
        )  # fmt: skip
    assert ran.raised == "CallFailed: the answer was cut short"
    assert ran.codes == ["output_limit"]
