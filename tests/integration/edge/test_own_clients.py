"""A secret in a request of a tool's own client: its value reaches one slot of its own host, and nothing else does."""

from __future__ import annotations

import base64
import json

import pytest

from ringfence.execution.sandbox import Fault
from tests.integration.edge.conftest import Places
from tests.integration.edge.vault import VALUE, Vaulted, logs, passed, reading, refusals
from tests.integration.edge.world import API, API_ADDRESS, OTHER, OTHER_ADDRESS, http_server

pytestmark = pytest.mark.req("SEC-2", "NET-5")

LIBRARIES = ("urllib", "requests", "httpx", "httpx_http2", "aiohttp")
BEARER = f"Authorization: Bearer {VALUE}\r\n".encode()
BASIC = b"Authorization: Basic " + base64.b64encode(f"ana:{VALUE}".encode()) + b"\r\n"


@pytest.mark.req("NET-2")
async def test_libraries_sign_in_as_their_documentation_says(vaulted: Vaulted, places: Places) -> None:
    for library in LIBRARIES:
        for how, line in (("bearer", BEARER), ("basic", BASIC), ("auth", BASIC)):
            if (library, how) == ("urllib", "auth"):
                continue  # it has no such argument
            places.secure.heard.clear()
            gave, raw = await vaulted.use("own_sign_in", library=library, url=f"https://{API}/x", how=how)
            assert refusals(raw) == [], (library, how)
            assert (json.loads(gave)[::2], library, how) == ([200, "hello"], library, how)
            assert line.lower() in bytes(places.secure.heard).replace(b"authorization", b"Authorization").lower()
            assert line.split(b" ", 1)[1] in places.secure.heard
            ways = [(each["way"], each["requests"]) for each in (raw.effects.network or {})["hosts"]]
            assert ways == [("inspected", 1)]


@pytest.mark.req("NET-2")
@pytest.mark.parametrize(
    ("arguments", "line"),
    [(["-H", "Authorization: Bearer {}"], BEARER), (["--oauth2-bearer", "{}"], BEARER), (["-u", "ana:{}"], BASIC)],
)
async def test_curl_signs_in_as_its_manual_says(
    vaulted: Vaulted, places: Places, arguments: list[str], line: bytes
) -> None:
    gave, raw = await vaulted.use("own_curl", arguments=arguments, url=f"https://{API}/x")
    assert (gave[:2], refusals(raw)) == (["0", "hello"], [])
    assert line in places.secure.heard


@pytest.mark.parametrize("shape", ["whole", "chunked", "continued"])
@pytest.mark.parametrize("size", [0, 5_000, 3_000_000])
async def test_a_body_arrives_whole_beside_the_value(vaulted: Vaulted, places: Places, shape: str, size: int) -> None:
    bodies = list[bytes]()
    secure = places.authority.server_side(API)
    async with places.world.server(reading(bodies), at=[(API_ADDRESS, 443)], tls=secure) as far:
        gave, raw = await vaulted.use("own_send", url=f"https://{API}/", body=size, shape=shape)
    assert (refusals(raw), json.loads(gave)[0]) == ([], 200)
    assert bodies == [b"0123456789" * (size // 10)]
    assert (BEARER in far.heard, b"expect" in far.heard.lower()) == (True, False)


@pytest.mark.parametrize("spelling", ["plain", "backwards", "hex", "base64", "percent"])
async def test_anywhere_else_it_is_refused_noticed_and_nothing_leaves(
    vaulted: Vaulted, places: Places, spelling: str
) -> None:
    wheres = ["body", "chunks", "header", "header name", "cookie", "user agent", "query", "path"]
    if spelling != "plain":
        wheres += ["its header, spelled", "beside it"]
    cases = (
        {"url": f"https://{API}/", "library": "requests", "place": place, "spelling": spelling} for place in wheres
    )
    assert await passed(vaulted, "own_smuggle", cases) == []
    assert (logs(places), places.world.dialled) == (b"", [])


@pytest.mark.parametrize("library", LIBRARIES)
async def test_no_library_gets_it_out_elsewhere(vaulted: Vaulted, places: Places, library: str) -> None:
    own = [f"https://{API}/", "body", "header", "query", "cookie"]
    cases = [{"library": library, "url": own[0], "place": place} for place in own[1:]]
    cases += [
        {"library": library, "url": url, "place": "its header"} for url in (f"http://{API}/", f"https://{OTHER}/")
    ]
    assert await passed(vaulted, "own_smuggle", cases) == []
    assert (logs(places), places.world.dialled) == (b"", [])


@pytest.mark.parametrize("place", ["long body", "long chunks"])
async def test_of_a_body_too_long_to_be_held_no_part_of_a_placeholder_leaves(
    vaulted: Vaulted, places: Places, place: str
) -> None:
    case = {"library": "requests", "url": f"https://{API}/", "place": place}
    secure = places.authority.server_side(API)
    async with places.world.server(reading([]), at=[(API_ADDRESS, 443)], tls=secure) as far:
        assert await passed(vaulted, "own_smuggle", [case]) == []
    assert far.heard.count(b"a") > 1_000_000
    assert b"r" not in far.heard.partition(b"aaaa")[2].replace(b"\r", b"")


async def test_what_is_revealed_has_a_placeholder_that_goes_nowhere(vaulted: Vaulted, places: Places) -> None:
    cases = ({"url": f"http://{API}/", "place": place} for place in ("header", "body"))
    assert await passed(vaulted, "reveal_elsewhere", cases) == []
    assert vaulted.strongbox.marker.encode() not in logs(places)


@pytest.mark.req("NET-4")
@pytest.mark.parametrize("place", [f"http://{API}/there", f"https://{OTHER}/there"])
async def test_after_a_redirect_elsewhere_it_is_not_swapped(vaulted: Vaulted, places: Places, place: str) -> None:
    moved = http_server(headers=b"Location: " + place.encode() + b"\r\n", status=b"302 Found")
    secure, other = places.authority.server_side(API), places.authority.server_side(OTHER)
    async with (
        places.world.server(moved, at=[(API_ADDRESS, 443)], tls=secure) as far,
        places.world.server(http_server(), at=[(OTHER_ADDRESS, 443)], tls=other) as elsewhere,
    ):
        # urllib takes every header along, wherever it is sent.
        gave, raw = await vaulted.use("own_sign_in", library="urllib", url=f"https://{API}/")
    assert BEARER in far.heard
    assert isinstance(gave, Fault)
    assert [code for code, _ in refusals(raw)] == ["secret_misplaced"]
    assert bytes(elsewhere.heard + places.plain.heard) == b""


RAW = "GET / HTTP/1.1\r\nHost: api.example.com\r\n"


@pytest.mark.parametrize(
    "text",
    [
        "GET / HTTP/1.1\r\nHost: {}.example.com\r\nConnection: close\r\n\r\n",
        "GET https://api.example.com/{} HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n\r\n",
        RAW + "Authorization: Bearer {}\r\n\tfolded\r\n\r\n",
        RAW + "Authorization : Bearer {}\r\n\r\n",
        RAW + "X: y\rAuthorization: Bearer {}\r\n\r\n",
        RAW + "Connection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer {}\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{}",
        "POST / HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: chunked\r\n\r\n3;{}\r\nabc\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: {}\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: other.example.net\r\nAuthorization: Bearer {}\r\n\r\n",
    ],
)  # fmt: skip
async def test_a_request_that_two_could_read_differently_carries_no_value(
    vaulted: Vaulted, places: Places, text: str
) -> None:
    gave, raw = await vaulted.use("own_words", host=API, text=text)
    assert isinstance(gave, Fault) or gave == ""
    assert refusals(raw) != []
    assert logs(places) == b""


async def test_requests_that_share_a_connection_are_each_held_and_each_answered(
    vaulted: Vaulted, places: Places
) -> None:
    one = RAW + "Authorization: Bearer {}\r\n\r\n"
    gave, _ = await vaulted.use(
        "own_words", host=API, text=one + one + one.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
    )
    assert gave.count("HTTP/1.1 200 OK") == 3
    assert bytes(places.secure.heard).count(BEARER) == 3
    assert places.secure.connections == 1
    gave, raw = await vaulted.use("own_words", host=API, text=one + one.replace("Authorization", "X-Other"))
    assert str(gave).count("HTTP/1.1 200 OK") <= 1
    assert [code for code, _ in refusals(raw)] == ["secret_misplaced"]
    assert b"X-Other" not in places.secure.heard


async def test_letters_beyond_ascii_in_other_headers_go_on_as_they_are(vaulted: Vaulted, places: Places) -> None:
    text = RAW + "X-Name: caf\xe9\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n"
    gave, raw = await vaulted.use("own_words", host=API, text=text)
    assert (gave.endswith("hello"), refusals(raw)) == (True, [])
    assert (b"X-Name: caf\xe9\r\n" in places.secure.heard, BEARER in places.secure.heard) == (True, True)


async def test_an_old_client_gets_an_answer_that_ends_with_the_connection(vaulted: Vaulted) -> None:
    text = "GET / HTTP/1.0\r\nHost: api.example.com\r\nAuthorization: Bearer {}\r\n\r\n"
    gave, _ = await vaulted.use("own_words", host=API, text=text)
    head, _, body = gave.partition("\r\n\r\n")
    assert (body, "connection: close" in head) == ("hello", True)
