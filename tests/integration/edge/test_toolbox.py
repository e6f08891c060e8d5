"""`fetch_url` from a real jail, through the edge, to servers that write down what they hear."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from ringfence.agents.profile import Permits
from ringfence.contract.capabilities import Network
from ringfence.execution.sandbox import Fault
from tests.integration.edge.conftest import Places
from tests.integration.edge.jails import EdgeYard
from tests.integration.edge.world import API, API_ADDRESS, OTHER, http_server

pytestmark = pytest.mark.req("OPS-9", "NET-1")


@pytest_asyncio.fixture
async def yard(places: Places) -> AsyncIterator[EdgeYard]:
    permits = Permits(network=Network.permit(API))
    opened = EdgeYard(state=places.world.folder / "state", world=places.world, permits=permits)
    try:
        opened.register(await opened.describer.describe("ringfence.tools", path=[]))
        yield opened
    finally:
        await opened.close()


def typed(kind: bytes, body: bytes) -> Any:
    return http_server(body, headers=b"Content-Type: " + kind + b"\r\n")


async def test_a_page_is_fetched_over_tls_by_the_edge(yard: EdgeYard, places: Places) -> None:
    page, raw = await yard.reach("fetch_url", url=f"https://{API}/guide?x=1")
    assert page == {
        "url": f"https://{API}/guide?x=1", "status": 200, "content_type": "text/plain", "text": "hello", "cut": False,
    }  # fmt: skip
    assert places.secure.requests == ["GET /guide?x=1 HTTP/1.1"]
    assert [line["way"] for line in (raw.effects.network or {})["hosts"]] == ["mediated"]


async def test_markup_is_left_out_unless_the_source_is_wanted(yard: EdgeYard, places: Places) -> None:
    page = typed(b"text/html; charset=latin-1", b"<title>A</title><p>caf\xe9</p><script>x()</script>")
    async with places.world.server(page, at=[(API_ADDRESS, 80)]):
        text, _ = await yard.reach("fetch_url", url=f"http://{API}/")
        source, _ = await yard.reach("fetch_url", url=f"http://{API}/", show="source")
    assert text["text"] == "A\ncafé"
    assert source["text"].startswith("<title>A</title>")


async def test_a_large_page_is_cut(yard: EdgeYard, places: Places) -> None:
    async with places.world.server(typed(b"text/plain", b"x" * 3_000_000), at=[(API_ADDRESS, 80)]):
        page, _ = await yard.reach("fetch_url", url=f"http://{API}/")
    assert (len(page["text"]), page["cut"]) == (512 * 1024, True)


@pytest.mark.parametrize("kind", [b"image/png", b"application/octet-stream", b"application/zip", b"video/mp4"])
async def test_what_is_not_text_is_refused_with_a_remedy(yard: EdgeYard, places: Places, kind: bytes) -> None:
    async with places.world.server(typed(kind, b"\0\1"), at=[(API_ADDRESS, 80)]):
        fault, _ = await yard.reach("fetch_url", url=f"http://{API}/")
    assert isinstance(fault, Fault)
    assert fault.code == "input_invalid"
    assert fault.message == f"`url`: the answer is `{kind.decode()}`, not text; fetch a page or a document of text"


async def test_json_is_text_and_a_bad_status_is_an_answer(yard: EdgeYard, places: Places) -> None:
    missing = http_server(b'{"a": 1}', headers=b"Content-Type: application/json\r\n", status=b"404 Not Found")
    async with places.world.server(missing, at=[(API_ADDRESS, 80)]):
        page, _ = await yard.reach("fetch_url", url=f"http://{API}/")
    assert (page["status"], page["text"]) == (404, '{"a": 1}')


@pytest.mark.req("NET-4")
async def test_a_redirect_is_followed_within_the_list_and_nowhere_else(yard: EdgeYard, places: Places) -> None:
    onward = http_server(headers=f"Location: https://{API}/there\r\n".encode(), status=b"302 Found")
    away = http_server(headers=f"Location: http://{OTHER}/\r\n".encode(), status=b"302 Found")
    async with places.world.server(onward, at=[(API_ADDRESS, 80)]):
        page, _ = await yard.reach("fetch_url", url=f"http://{API}/")
    assert (page["url"], page["text"]) == (f"https://{API}/there", "hello")
    async with places.world.server(away, at=[(API_ADDRESS, 80)]):
        fault, _ = await yard.reach("fetch_url", url=f"http://{API}/")
    assert (isinstance(fault, Fault), places.unlisted.connections) == (True, 0)


@pytest.mark.req("NET-3", "NET-4")
@pytest.mark.parametrize(
    "url", [f"https://{OTHER}/", f"https://{API}:8443/", "http://127.0.0.1/", "http://169.254.169.254/"]
)
async def test_no_other_host_is_reached(yard: EdgeYard, places: Places, url: str) -> None:
    fault, raw = await yard.reach("fetch_url", url=url)
    assert isinstance(fault, Fault)
    assert fault.code == "host_not_allowed"
    assert [refusal["code"] for refusal in (raw.effects.network or {})["refusals"]] == ["host_not_allowed"]
    assert (places.world.dialled, places.unlisted.connections) == ([], 0)
