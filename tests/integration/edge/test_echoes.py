"""A far side that gives the credential back: whatever it says and however it packs it, the value stays outside."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Sequence
from typing import Any

import pytest

from ringfence.edge.decoding import MOST_DECODED
from ringfence.execution.sandbox import Fault, RawOutput
from tests.integration.edge.conftest import Places
from tests.integration.edge.vault import VALUE, Vaulted, answering, chunked, refusals
from tests.integration.edge.world import API, API_ADDRESS

pytestmark = pytest.mark.req("SEC-2", "SEC-3")

SHOWN = "[REDACTED:API_KEY]"
ECHO = VALUE.encode()
SPELLED = (ECHO, ECHO[::-1], ECHO.hex().encode(), base64.b64encode(b"u:" + ECHO))
BODY = b"<p>you sent " + b" or ".join(SPELLED) + b"</p>" + b"." * 5_000
CLEAN = f"<p>you sent {SHOWN} or {SHOWN} or {SHOWN} or dT{SHOWN}</p>" + "." * 5_000
WAYS = {"mediated": "sign_in", "inspected": "own_sign_in"}
way = pytest.mark.parametrize("way", WAYS)


async def asked(vaulted: Vaulted, places: Places, way: str, *pieces: bytes) -> tuple[Any, RawOutput]:
    """What a tool hears from a far side that answers so; it has used its secret successfully."""
    library = {"library": "requests"} if way == "inspected" else {}
    secure = places.authority.server_side(API)
    async with places.world.server(answering(*pieces), at=[(API_ADDRESS, 443)], tls=secure) as far:
        gave, raw = await vaulted.use(WAYS[way], url=f"https://{API}/", **library)
    assert VALUE.encode() in far.heard
    return gave, raw


def packed(coding: str, body: bytes) -> bytes:
    bare = zlib.compressobj(wbits=-15)
    return {
        "gzip": lambda: gzip.compress(body),
        "x-gzip": lambda: gzip.compress(body[:700]) + gzip.compress(body[700:]),
        "deflate": lambda: zlib.compress(body),
        "deflate, bare": lambda: bare.compress(body) + bare.flush(),
        "identity": lambda: body,
    }[coding]()


@way
async def test_a_body_is_searched_whatever_its_coding_and_its_chunks(
    vaulted: Vaulted, places: Places, way: str
) -> None:
    for coding in ("identity", "gzip", "x-gzip", "deflate", "deflate, bare"):
        for size in (1, 7, 100_000):
            lines = [b"Content-Encoding: " + coding.partition(",")[0].encode()]
            gave, raw = await asked(vaulted, places, way, *chunked(packed(coding, BODY), size=size, lines=lines))
            assert (json.loads(gave)[-1], coding, size) == (CLEAN, coding, size)
            # Taken out before the jail, so that there was nothing left to find behind it.
            assert (refusals(raw), raw.evidence.get("scrubbed")) == ([], None)


@way
@pytest.mark.parametrize(
    "lines",
    [
        [b"HTTP/1.1 401 " + ECHO, b"X-Echo: " + ECHO, b"X-" + ECHO + b": 1", b"Set-Cookie: k=" + ECHO + b"; Path=/"],
        [b"HTTP/1.1 302 Found", b"Location: https://api.example.com/?token=" + ECHO],
        [b"HTTP/1.1 103 Early Hints", b"Link: <" + ECHO + b">", b"", b"HTTP/1.1 500 Oops " + ECHO, b"Server: " + ECHO],
    ],
    ids=["refused", "redirected", "hinted"],
)  # fmt: skip
async def test_heads_are_searched(vaulted: Vaulted, places: Places, way: str, lines: Sequence[bytes]) -> None:
    whole = b"\r\n".join([*lines, b"Content-Length: 23"]) + b"\r\n\r\n" + ECHO
    if way == "inspected" and b"302" in lines[0]:
        whole = whole.replace(b"302 Found", b"200 Found")  # that client would follow it
    gave, raw = await asked(vaulted, places, way, whole)
    text = json.dumps(gave)
    assert (VALUE in text, SHOWN in text) == (False, True)
    assert "scrubbed" not in raw.evidence


async def test_a_redirect_with_the_value_in_it_leads_a_client_to_the_name_of_it(
    vaulted: Vaulted, places: Places
) -> None:
    moved = (
        b"HTTP/1.1 302 Found\r\nLocation: https://other.example.net/?token=" + ECHO + b"\r\nContent-Length: 0\r\n\r\n"
    )
    gave, raw = await asked(vaulted, places, "inspected", moved)
    assert isinstance(gave, Fault)
    assert VALUE not in f"{gave}{raw}"
    assert VALUE.encode() not in places.unlisted.heard


@way
async def test_an_answer_that_is_not_http_is_not_quoted(vaulted: Vaulted, places: Places, way: str) -> None:
    for answer in (b"HTTP/1.1 " + ECHO + b"\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + ECHO + b"\r\n\r\n", ECHO + b"\r\n\r\n"):
        gave, raw = await asked(vaulted, places, way, answer)
        assert isinstance(gave, Fault)
        assert VALUE not in f"{gave}{raw.effects}{raw.printed!r}"
        assert "scrubbed" not in raw.evidence


@way
@pytest.mark.req("NET-5")
async def test_a_gzip_bomb_ends_the_answer(vaulted: Vaulted, places: Places, way: str) -> None:
    bomb = gzip.compress(bytes(1 << 20)) * 80
    assert len(bomb) < MOST_DECODED / 500
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    gave, raw = await asked(vaulted, places, way, head + bomb)
    assert isinstance(gave, Fault)
    assert [code for code, _ in refusals(raw)] == ["answer_not_searchable"]
    assert "more than 67108864 bytes" in refusals(raw)[0][1]


@way
@pytest.mark.parametrize(
    ("coding", "body"),
    [(b"br", b"x"), (b"zstd", b"x"), (b"gzip, gzip", b"x"), (b"gzip", b"not gzip"), (b"deflate", b"x"),
     (b"gzip", gzip.compress(BODY)[:-20]), (b"deflate", zlib.compress(BODY) + ECHO)],
)  # fmt: skip
async def test_an_answer_that_cannot_be_searched_is_refused(
    vaulted: Vaulted, places: Places, way: str, coding: bytes, body: bytes
) -> None:
    gave, raw = await asked(vaulted, places, way, *chunked(body, size=9, lines=[b"Content-Encoding: " + coding]))
    assert isinstance(gave, Fault)
    assert [code for code, _ in refusals(raw)] == ["answer_not_searchable"]


@way
async def test_the_far_side_is_asked_for_a_plain_and_whole_answer(vaulted: Vaulted, places: Places, way: str) -> None:
    await vaulted.use("ranged", url=f"https://{API}/", way=way)
    heard = bytes(places.secure.heard).lower()
    assert heard.count(b"accept-encoding") == heard.count(b"accept-encoding: identity") == 1
    assert b"range" not in heard


@way
@pytest.mark.req("NET-5", "NET-4")
async def test_an_alternative_place_is_not_told_and_not_dialled(vaulted: Vaulted, places: Places, way: str) -> None:
    line = b'Alt-Svc: h3=":443", h2="other.example.net:443"; ma=9999'
    whole = b"HTTP/1.1 200 OK\r\n" + line + b"\r\nContent-Length: 2\r\n\r\nok"
    gave, _ = await asked(vaulted, places, way, whole)
    assert "alt-svc" not in json.dumps(gave).lower()
    assert places.world.asked == [API]


@way
@pytest.mark.req("NET-5")
@pytest.mark.parametrize("lines", [b"X-Big: " + b"a" * 300_000, b"\r\n".join(b"X-%d: a" % n for n in range(40_000))])
async def test_a_head_without_end_is_cut_off(vaulted: Vaulted, places: Places, way: str, lines: bytes) -> None:
    whole = b"HTTP/1.1 200 OK\r\n" + lines + b"\r\nContent-Length: 2\r\n\r\nok"
    gave, _ = await asked(vaulted, places, way, whole)
    assert isinstance(gave, Fault)


async def test_an_answer_that_breaks_off_is_seen_to(vaulted: Vaulted, places: Places) -> None:
    gave, _ = await asked(vaulted, places, "inspected", *chunked(b"data: one\n\n" * 400, size=11)[:-1])
    assert isinstance(gave, Fault)
